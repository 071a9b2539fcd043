/** What people write themselves: their own items, and changes of any. */
import { Type as T } from '@sinclair/typebox'
import { op } from '../op.ts'
import { ItemSchema } from '../records/growth/item.ts'
import { ItemRevision } from '../records/growth/revision.ts'
import {
  cursorLike,
  Id,
  NextCursor,
  NOT_BLANK,
  nullable,
  ONE_LINE,
  oneOf,
  page,
  record,
  theText,
} from '../shapes.ts'
import { tagLimits } from '../tag-limits.ts'

const OneItem = record({ item: ItemSchema })
const onItem = ['not_found', 'conflict'] as const
const writers = ['editor', 'approver'] as const

const body = T.String({
  minLength: 1,
  maxLength: 25_000,
  pattern: NOT_BLANK,
  description:
    'The exact text. Tabs and line ends are the only control characters allowed; line ends become newlines.',
})
const title = T.String({
  minLength: 1,
  maxLength: 200,
  description: 'Articles only: the first line.',
})
export const tags = T.Array(
  T.String({ minLength: 1, maxLength: tagLimits.length, pattern: ONE_LINE, format: 'name' }),
  {
    maxItems: tagLimits.tags,
    description: 'All tags; those that differ by case alone are one.',
  },
)
const note = T.String({ maxLength: 2_000, description: 'For the team; never sent.' })
const account = T.String({
  format: 'uuid',
  description: 'A connected account to post from. Default: the default account at approval.',
})

export const itemTexts = {
  create: op.command(
    'POST /api/v1/growth/items',
    'Write an item yourself. It is drafted and goes out only after approval. Uses no quota. 409 while its channel is inactive, or if the workspace has 10,000 drafts.',
    {
      input: {
        kind: T.Optional(
          oneOf(['post', 'article'], { description: 'Default post, or as channel says.' }),
        ),
        channel: T.Optional(
          oneOf(['posts', 'articles'], { description: 'May be given instead of kind.' }),
        ),
        body: theText(body),
        title: T.Optional(title),
        account: T.Optional(account),
        tags: T.Optional(tags),
        note: T.Optional(note),
      },
      output: OneItem,
    },
    {
      tool: 'growth_create_item',
      toolset: 'content',
      agent: 'draft',
      foreign: true,
      status: 201,
      cap: 'create_item',
      errors: ['conflict'],
      roles: writers,
    },
  ),
  edit: op.command(
    'PATCH /api/v1/growth/items/:id',
    'Change an item. A new body, title or account makes an approved or scheduled item drafted again: approve it anew. The time it had stays as proposed_at. One that is about to be posted is taken back; 409 with the detail in_flight if it is too late for that. Tags and note change nothing else. Send revision, and the change is refused (409) if somebody else has changed the text meanwhile.',
    {
      input: {
        id: Id,
        body: theText(T.Optional(body)),
        title: T.Optional(title),
        account: T.Optional(nullable(account)),
        tags: T.Optional(tags),
        note: T.Optional(nullable(note)),
        revision: T.Optional(
          T.Integer({ minimum: 1, description: 'The revision that you have read.' }),
        ),
      },
      output: OneItem,
    },
    {
      tool: 'growth_edit_item',
      toolset: 'content',
      agent: 'draft',
      foreign: true,
      errors: onItem,
      roles: writers,
      recalls: true,
      repeatable: true,
    },
  ),
  duplicate: op.command(
    'POST /api/v1/growth/items/:id/duplicate',
    'Make a new draft with the text, tags and account of an item, in whatever state it is. 409 if the workspace has 10,000 drafts.',
    { input: { id: Id }, output: OneItem },
    { status: 201, cap: 'create_item', errors: onItem, roles: writers },
  ),
  revisions: op.query(
    'GET /api/v1/growth/items/:id/revisions',
    'List the versions of an item, oldest first: who wrote what, and when. Of more than 100, the first and the newest are kept.',
    {
      input: { id: Id, ...page, cursor: cursorLike('Mw') },
      output: record({ revisions: T.Array(ItemRevision), next_cursor: NextCursor }),
    },
    { errors: ['not_found'] },
  ),
}
