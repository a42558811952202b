class ScenarioError(ValueError): ...

def run(
    scenario: str,
    seed: str | None,
    until: str | None,
    sets: list[str],
    series: str | None,
    package_folder: str,
) -> str: ...
def check(
    scenario: str, seed: str | None, until: str | None, sets: list[str], package_folder: str
) -> list[str]: ...
