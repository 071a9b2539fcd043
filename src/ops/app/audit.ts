import type { audit } from '#contract/app/audit'
import type { OutputOf } from '#contract/op'
import { type AuditFilters, type AuditRow, auditPage } from '#store/app/audit'
import type { Handlers, QueryContext } from '../engine/call.ts'
import { pageOf, pageResult } from '../engine/paging.ts'
import { clampTime } from '../engine/time-input.ts'

type Line = OutputOf<typeof audit.export>

interface FilterInput {
  operation?: string
  actor?: string
  record?: string
  since?: string | Date
  until?: string | Date
}

const filtersOf = ({ operation, actor, record, since, until }: FilterInput): AuditFilters => ({
  operation,
  actor: actor?.toLowerCase(),
  record,
  since: clampTime(since),
  until: clampTime(until),
})

const entryOf = ({
  actor_kind,
  actor_id,
  actor_name,
  actor_email,
  allowed_by,
  allowed_by_name: name,
  ...row
}: AuditRow) => ({
  ...row,
  allowed_by: allowed_by && { id: allowed_by.id, name },
  who: { kind: actor_kind, id: actor_id, name: actor_name, email: actor_email },
})

const lineOf = ({
  id,
  at,
  actor_kind,
  actor_id,
  actor_name,
  actor_email,
  allowed_by,
  allowed_by_name,
  ...row
}: AuditRow): Line => ({
  id,
  at,
  who_kind: actor_kind,
  who_id: actor_id,
  who_name: actor_name,
  who_email: actor_email,
  allowed_by_id: allowed_by?.id ?? null,
  allowed_by_name,
  ...row,
})

const LINES_A_READ = 200

/**
 * Reads page by page. Each statement checks the caller's credential again, so a revoked one gets no
 * further page.
 */
async function* lines(
  filters: AuditFilters,
  { read }: Pick<QueryContext, 'read'>,
): AsyncGenerator<Line> {
  for (let after: string | undefined; ; ) {
    const rows = await read(auditPage({ ...filters, after, limit: LINES_A_READ }))
    for (const row of rows) yield lineOf(row)
    if (rows.length <= LINES_A_READ) return
    after = rows.at(-1)!.id
  }
}

export const auditHandlers: Handlers<typeof audit> = {
  async list({ limit, cursor, ...filters }, { read }) {
    const page = pageOf({
      ...(limit === undefined ? {} : { limit }),
      ...(cursor === undefined ? {} : { cursor }),
    })
    const { rows, next_cursor } = pageResult(
      await read(auditPage({ ...page, ...filtersOf(filters) })),
      page.limit,
    )
    return { entries: rows.map(entryOf), next_cursor }
  },

  export: (filters, context) => lines(filtersOf(filters), context),
}
