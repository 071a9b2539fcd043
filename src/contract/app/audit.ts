import { Type as T } from '@sinclair/typebox'
import { download, op } from '../op.ts'
import { Id, NextCursor, nullable, oneOf, page, record, Time } from '../shapes.ts'

/** What narrows the trail; each further one narrows it more. */
const filters = {
  operation: T.Optional(
    T.String({ minLength: 1, maxLength: 100, description: 'For example growth.items.approve.', examples: ['growth.items.approve'] }),
  ),
  actor: T.Optional(T.String({ format: 'uuid', description: 'A person, with what was done by their keys; or one key.' })),
  since: T.Optional(Time),
  until: T.Optional(Time),
}

const ActorKind = oneOf(['person', 'key', 'system'], { description: 'system: the deployment itself, or its operator.' })
const Detail = T.Record(T.String(), T.Unknown(), { description: 'What more there is to tell, by the operation. Never a secret.' })

/** What happened, and by which way; the same in the list and in the file. */
const deed = {
  surface: T.String({ description: 'rest, mcp, cli, admin, or what the server does by itself: lane, timer.' }),
  operation: T.String(),
  ref_id: nullable(T.String({ format: 'uuid', description: 'The record that it was done to.' })),
  request_id: nullable(T.String({ description: 'The X-Request-Id of the request.' })),
  detail: Detail,
}

const Entry = record(
  {
    id: Id,
    at: Time,
    who: record({
      kind: ActorKind,
      id: T.String(),
      name: nullable(T.String({ description: 'Of the person, or of the key.' })),
      email: nullable(T.String({ description: 'Of the person, or of whose key it is; null once they are no member any more.' })),
    }),
    ...deed,
  },
  { title: 'AuditEntry' },
)

const Line = record(
  {
    id: Id,
    at: Time,
    who_kind: ActorKind,
    who_id: T.String(),
    who_name: nullable(T.String()),
    who_email: nullable(T.String()),
    ...deed,
  },
  { title: 'AuditLine', description: 'An entry, flat, so that it fits a table.' },
)

export const audit = {
  list: op(
    'GET /api/v1/app/audit',
    'List the audit trail, newest first. Who has changed what, when, and through which surface; what only reads is not in it.',
    { input: { ...page, ...filters }, output: record({ entries: T.Array(Entry), next_cursor: NextCursor }) },
    { scope: 'session', roles: [] },
  ),
  export: download(
    'GET /api/v1/app/audit/export',
    'Export the audit trail, newest first. With the filters of the list; as JSON lines, or as a table in which no text is taken for a formula. A file that broke off ends with a line that says so.',
    { input: filters, line: Line },
    { roles: [], file: 'tendril-audit', csv: true },
  ),
}
