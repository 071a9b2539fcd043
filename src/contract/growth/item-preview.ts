/** What approving a text would answer. */
import { Type as T } from '@sinclair/typebox'
import { op } from '../op.ts'
import { PostingAccount } from '../records/growth/connection.ts'
import { Warnings } from '../records/growth/item.ts'
import { MarksSchema } from '../records/growth/marks.ts'
import { nullable, oneOf, record } from '../shapes.ts'

const Preview = record(
  {
    body: T.String({
      description:
        'The text that would be stored, and that the network would be given: with newlines as its line ends.',
    }),
    content_hash: T.String(),
    marks: nullable(MarksSchema),
    length: T.Integer({ description: "Counted by the network's rule." }),
    max_length: T.Integer(),
    can_be_approved: T.Boolean(),
    faults: T.Array(T.String(), {
      description:
        'What approving would refuse: the length, and each format rule of the channel that it breaks.',
    }),
    warnings: Warnings,
    posting_account: nullable(PostingAccount),
    cost_micros: nullable(
      T.Integer({
        description:
          'The price of the post in millionths of a US dollar; null where posts cost nothing.',
      }),
    ),
  },
  { title: 'ItemPreview' },
)

export const itemPreview = {
  preview: op.command(
    'POST /api/v1/growth/items/preview',
    'Preview a text: everything that approving it would say, without an effect.',
    {
      input: {
        body: T.String({
          minLength: 1,
          maxLength: 25_000,
          examples: ['Every delay starts at the dock.'],
        }),
        account: T.Optional(
          T.String({
            format: 'uuid',
            description: 'A connected account. Default: the default one.',
          }),
        ),
        post_at: T.Optional(
          T.String({
            format: 'date-time',
            examples: ['2026-12-24T09:00:00+01:00'],
            description: 'The time that it would get, to be warned about that too.',
          }),
        ),
        kind: T.Optional(oneOf(['post', 'article'], { default: 'post' })),
        item_id: T.Optional(
          T.String({
            format: 'uuid',
            description:
              'The item that would get this text, so that it is not said to repeat itself.',
          }),
        ),
      },
      output: record({ preview: Preview }),
    },
    { errors: ['not_found', 'conflict'], roles: ['editor', 'approver'] },
  ),
}
