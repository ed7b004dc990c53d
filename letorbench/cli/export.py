"""`letorbench export`: stored scores, labels and models as files of other tools."""

from pathlib import Path

import click

from letorbench.cli import options
from letorbench.cli.group import complain, say


@click.command(short_help="Write stored results as TREC files, or models as texts.")
@click.argument("dataset", shell_complete=options.datasets_with_results)
@options.algos
@options.option(
    "--as", "form", default="trec",
    type=click.Choice(["trec", "ranklib", "lightgbm", "solr", "elasticsearch"]),
    help="Write runs and qrels, or models as RankLib, LightGBM, Solr or Elasticsearch read them.",
)  # fmt: skip
@click.option(
    "--to", "folder", type=options.FOLDER, metavar="FOLDER",
    help="Where to.  [default: exports/<form> in the data set's results]",
)  # fmt: skip
@options.data_dir
@options.out
def export(
    dataset: str, algos: tuple[str, ...], form: str, folder: Path | None, data_dir: Path, out: Path
) -> None:
    """Write <FOLDER>/fold<k>/<algorithm>.run for every stored fold, and its qrels.txt.

    With another --as, write the model of the fold instead: <FOLDER>/fold<k>/<algorithm>.txt, or
    .json for Solr and Elasticsearch. The model must be of stumps, of trees or, except for
    lightgbm, linear, and take raw features.
    """
    from letorbench.api.results import load_results
    from letorbench.files import refuse_links
    from letorbench.results.export import export as export_stored
    from letorbench.results.paths import EXPORTS, dataset_folder

    results = load_results(out, [dataset], algos)
    complain(results.warnings, "warning")
    if folder is None:
        folder = dataset_folder(out, options.only(results.datasets)) / EXPORTS / form
        for row in results.frames[0].rows:
            for fold in row.stored:
                refuse_links(out, folder / fold.folder.name)
    for path in export_stored(results.frames[0], form, data_dir, folder):
        say(path)
