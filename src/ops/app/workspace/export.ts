/** The export of a workspace, record by record. */
import { exportKinds, type workspace } from '#contract/app/workspace'
import type { OutputOf } from '#contract/op'
import { exportSources } from '#store/app/export'
import { exportPage, startOf } from '#store/app/export-page'
import type { ExportSource } from '#store/app/export-source'
import type { QueryContext } from '../../engine/call.ts'

type Line = OutputOf<typeof workspace.export>

const PAGE = 200

/**
 * Reads page by page. Each statement checks the caller's credential again, so a revoked one gets no
 * further page.
 */
async function* recordsOf(
  { read }: QueryContext,
  source: ExportSource,
): AsyncGenerator<Record<string, unknown>> {
  const { page: limit = PAGE } = source
  for (let after: string[] | undefined; ; ) {
    const rows = await read(exportPage(source, { after, limit }))
    for (const { after: _, ...row } of rows) yield row
    if (rows.length < limit) return
    after = rows.at(-1)!.after
  }
}

export async function* exportLines(context: QueryContext): AsyncGenerator<Line> {
  const [start] = await context.read(startOf)
  yield { kind: 'export', record: { format: 'tendril-export/v1', ...start, kinds: exportKinds } }
  const counts: Record<string, number> = {}
  for (const kind of exportKinds) {
    counts[kind] = 0
    for await (const record of recordsOf(context, exportSources[kind])) {
      counts[kind]++
      yield { kind, record }
    }
  }
  yield { kind: 'end', record: { counts } }
}
