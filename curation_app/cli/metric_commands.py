"""Commands of the metric group: what is measured and how, and how far a judge can be trusted."""

import typer

from curation_app.cli.output import JsonOption, write_json, write_line

app = typer.Typer()


@app.command("metrics")
def list_metrics(
    name: str = typer.Argument("", help="Show one metric only, such as recall@5."),
    k: int = typer.Option(10, "--k", min=1, help="Depth of the metrics that have one."),
    half: str = typer.Option("", "--half", help="Only one half: retrieval, generation, safety or cost."),
    as_json: bool = JsonOption,
) -> None:
    """List every metric with its formula and source; the printed name is what reports, gates and options use."""
    from evalsets.metrics.registry import all_metrics, metric_named

    chosen = [metric_named(name)] if name else [m for m in all_metrics(k) if half in {"", m.half.value}]
    rows = [
        {
            "name": metric.name,
            "half": metric.half.value,
            "scale": metric.scale.value,
            "formula": metric.formula,
            "source": metric.source,
            "undefined_when": metric.undefined_when,
            "is_proxy": metric.is_proxy,
            "higher_is_better": metric.higher_is_better,
        }
        for metric in chosen
    ]
    if as_json:
        write_json(rows)
        return
    for row in rows:
        write_line(f"{row['name']}  ({row['half']}, {row['scale']}{', proxy' if row['is_proxy'] else ''})")
        write_line(f"    {row['formula']}")
        write_line(f"    source: {row['source']}")
        if row["undefined_when"]:
            write_line(f"    left out when {row['undefined_when']}")
