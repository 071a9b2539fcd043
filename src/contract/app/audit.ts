import { Type as T } from '@sinclair/typebox'
import { op } from '../op.ts'
import { Id, NextCursor, nullable, oneOf, page, record, Time } from '../shapes.ts'

/** All filters must match. */
const filters = {
  operation: T.Optional(
    T.String({
      minLength: 1,
      maxLength: 100,
      description: 'For example growth.items.approve.',
      examples: ['growth.items.approve'],
    }),
  ),
  actor: T.Optional(
    T.String({
      format: 'uuid',
      description: 'The id of a person, including their keys, or of one key.',
    }),
  ),
  record: T.Optional(
    T.String({ format: 'uuid', description: 'The id of a record: only what was done to it.' }),
  ),
  since: T.Optional(Time),
  until: T.Optional(Time),
}

const ActorKind = oneOf(['person', 'key', 'agent', 'system'], {
  description:
    'agent: a job of the workspace agent, by its id; detail says on whose behalf. system: the deployment or its operator.',
})
const Detail = T.Record(T.String(), T.Unknown(), {
  description: 'Details that depend on the operation. Never contains secrets.',
})

/** Fields of an entry in both the list and the export. */
const deed = {
  surface: T.String({
    description:
      "rest, mcp, cli or admin; agent for what a job of the agent does; lane or timer for the server's own work.",
  }),
  operation: T.String(),
  ref_id: nullable(T.String({ format: 'uuid', description: 'The record affected.' })),
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
      name: nullable(T.String({ description: 'The name of the person or key.' })),
      email: nullable(
        T.String({
          description:
            "The email of the person, or of the key's owner; null once they leave the workspace.",
        }),
      ),
    }),
    allowed_by: nullable(
      record(
        { id: Id, name: nullable(T.String()) },
        { description: 'The person who allowed it, if an agent did it and had to ask.' },
      ),
    ),
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
    allowed_by_id: nullable(Id),
    allowed_by_name: nullable(T.String()),
  },
  { title: 'AuditLine', description: 'An audit entry, flattened for tables.' },
)

export const audit = {
  list: op.query(
    'GET /api/v1/app/audit',
    'List the audit trail, newest first. Shows who changed what, when and through which surface. Reads are not recorded.',
    {
      input: { ...page, ...filters },
      output: record({ entries: T.Array(Entry), next_cursor: NextCursor }),
    },
    { scope: 'session', roles: [] },
  ),
  export: op.download(
    'GET /api/v1/app/audit/export',
    'Export the audit trail, newest first. Takes the filters of the list. Returns JSON lines, or CSV with text escaped so that spreadsheets run no formulas. An incomplete file ends with an error line.',
    { input: filters, line: Line },
    { roles: [], file: 'tendril-audit', csv: true },
  ),
}
