/** All that waits for a person, of growth and of the agent, in one list. */
import { Type as T } from '@sinclair/typebox'
import { inboxLimits } from '../inbox-limits.ts'
import { op } from '../op.ts'
import { PostingAccount } from '../records/growth/connection.ts'
import { SourceSchema, sourceKinds } from '../records/growth/source.ts'
import {
  cursorLike,
  Id,
  markUntrusted,
  NamedAuthorSchema,
  NextCursor,
  nullable,
  oneOf,
  page,
  record,
  someOf,
  Time,
} from '../shapes.ts'

/** The kinds of what waits. `src/domain/agent/inbox.ts` says which records in which states. */
export const inboxKinds = [
  'restored',
  'doubt',
  'refused',
  'call',
  'reply',
  'playbook',
  'tool_change',
  'draft',
  'article',
  'engagement',
] as const

/** The records that the entries stand for. */
export const inboxRecords = [
  'item',
  'engagement',
  'approval',
  'reply',
  'playbook_version',
  'mcp_tool',
] as const

const Call = record(
  {
    id: Id,
    tool_name: T.String(),
    expires_at: Time,
    can_decide: T.Boolean({ description: 'Whether you can decide about the call.' }),
  },
  { title: 'InboxCall' },
)

const Entry = record(
  {
    kind: oneOf(inboxKinds),
    record: oneOf(inboxRecords, { description: 'What kind of record it is.' }),
    id: Id,
    status: T.String({ description: 'Of the record.' }),
    title: markUntrusted(
      T.String({
        description:
          'The first line of the text, up to 200 characters; of a call, the sentence that says what it does.',
      }),
    ),
    parent: nullable(
      record(
        { id: Id, name: T.String() },
        { description: 'The playbook of a version, or the MCP server of a tool.' },
      ),
    ),
    // Who wrote the text. Null: a drafter; of a tool, its server.
    author: nullable(NamedAuthorSchema),
    source: nullable(SourceSchema),
    account: nullable({
      ...PostingAccount,
      description: 'The account that it would go out from.',
    }),
    hook: nullable(T.String({ description: 'The opening pattern of an item.' })),
    length: nullable(
      T.Integer({ description: "Of the text that goes out, by the network's rule." }),
    ),
    revision: nullable(T.Integer({ description: 'Counts versions of the text, from 1.' })),
    content_hash: nullable(
      T.String({
        description:
          'SHA-256 of the text; of a call without one, of the whole call; of a tool, of its definition. What a decision is bound to.',
      }),
    ),
    mark: nullable(
      T.String({ description: 'The first 8 digits of content_hash, as people see it.' }),
    ),
    warnings: T.Integer({ description: 'How many warnings the text has.' }),
    comments: T.Integer({ description: 'How many comments there are.' }),
    calls: T.Array(Call, {
      description:
        'Calls of the agent that ask to approve or reject the draft: they have no entries of their own.',
    }),
    expires_at: nullable({ ...Time, description: 'When a call can no longer be decided.' }),
    can_decide: T.Boolean({
      description: 'Whether you can decide: approve it, send it, settle it, set the rule.',
    }),
    created_at: Time,
  },
  { title: 'InboxEntry' },
)

const Counts = record(
  Object.fromEntries(
    inboxKinds.map((kind) => [kind, T.Integer({ minimum: 0, maximum: inboxLimits.counted })]),
  ) as Record<(typeof inboxKinds)[number], ReturnType<typeof T.Integer>>,
  {
    title: 'InboxCounts',
    description:
      'How many there are of each kind, with the same filters except kind, of those that you can see; 1,000 means that many or more.',
  },
)

export const inbox = {
  list: op.query(
    'GET /api/v1/inbox',
    'List all that waits for a person: what may have gone out since the backup or copy that this deployment was made from, posts in doubt, what the network refused, calls and replies of the agent, proposed playbooks, changed tools, drafts, articles and engagements. In one order: what cannot wait first; drafts by source, the oldest first. What is decided meanwhile leaves the list, and nothing is skipped or repeated. Calls, replies, playbooks and tools require the scope workspace:use.',
    {
      input: {
        kind: T.Optional(someOf(inboxKinds, 'Only these kinds.')),
        account: T.Optional(
          T.String({
            format: 'uuid',
            description: 'The id of the connected account that it would go out from.',
          }),
        ),
        source: T.Optional(oneOf(sourceKinds, { description: 'Only from such a source.' })),
        q: T.Optional(
          T.String({
            minLength: 1,
            maxLength: 200,
            description: 'Words that the text must all contain.',
            examples: ['dock delay'],
          }),
        ),
        limit: page.limit,
        cursor: cursorLike(
          'NiAzIDAxOGY0N2EwLTAwMDAtNzAwMC04MDAwLTAwMDAwMDAwMDAwMCAwMThmNDdhMC0wMDAwLTcwMDAtODAwMC0wMDAwMDAwMDAwMDA',
        ),
      },
      output: record({ entries: T.Array(Entry), counts: Counts, next_cursor: NextCursor }),
    },
    { tool: 'agent_list_inbox', agent: 'never', foreign: true },
  ),
}
