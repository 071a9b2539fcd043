import { Type as T } from '@sinclair/typebox'
import { op } from '../op.ts'
import {
  cursorLike,
  Id,
  markUntrusted,
  NextCursor,
  nullable,
  page,
  record,
  Time,
  untrustedName,
} from '../shapes.ts'

const PostId = T.String({
  minLength: 1,
  maxLength: 20,
  pattern: '^[0-9]+$',
  examples: ['2065412345678901248'],
})

const SandboxPost = record(
  {
    id: T.String(),
    author: untrustedName(T.String({ description: 'A handle.' })),
    own: T.Boolean({ description: 'True when one of your accounts posted it.' }),
    text: markUntrusted(T.String()),
    created_at: Time,
    in_reply_to: nullable(T.String({ description: 'The post that it answers.' })),
    quoted: nullable(T.String({ description: 'The post that it quotes.' })),
    metrics: record({
      impressions: nullable(T.Integer()),
      likes: T.Integer(),
      replies: T.Integer(),
      reposts: T.Integer(),
      quotes: T.Integer(),
      clicks: nullable(T.Integer()),
    }),
  },
  { title: 'SandboxPost' },
)

const Said = record({
  post: record({
    id: T.String(),
    resident: T.String(),
    text: T.String(),
    created_at: Time,
    in_reply_to: nullable(T.String()),
  }),
  target_id: nullable({
    ...Id,
    description:
      'The active target that watches this resident and is read now, so that the post becomes a signal. Null: nobody watches.',
  }),
})

const resident = T.String({
  minLength: 1,
  maxLength: 50,
  description: 'The handle of a resident, as the timeline shows it.',
  examples: ['late_freight_lena'],
})
const text = T.String({
  minLength: 1,
  maxLength: 1_000,
  description: 'As long as a post may be.',
  examples: ['Who answers on a Sunday?'],
})
const mention = T.Optional(
  T.Boolean({
    default: false,
    description:
      'Begin the text with @ and the handle of your default account, unless the text has it.',
  }),
)

const saying = {
  status: 201,
  roles: ['editor', 'approver'],
  outside: true,
  errors: ['x_not_connected', 'network_error'],
} as const

export const sandbox = {
  timeline: op.query(
    'GET /api/v1/growth/sandbox/timeline',
    'Look at the sandbox, newest first: what your accounts posted and answered, what the residents say, and the numbers of each post.',
    {
      input: {
        author: T.Optional(
          T.String({
            minLength: 1,
            maxLength: 50,
            description: 'Only posts by this handle.',
            examples: ['dockside'],
          }),
        ),
        in_reply_to: T.Optional({
          ...PostId,
          description: 'Only answers to this post, by anybody.',
        }),
        ...page,
        cursor: cursorLike('MTc2NDAwMDAwMDAwMDAwMCAyMDY1NDEyMzQ1Njc4OTAxMjQ4'),
      },
      output: record({ posts: T.Array(SandboxPost), next_cursor: NextCursor }),
    },
    { errors: ['network_error'] },
  ),
  post: op.prepared(
    'POST /api/v1/growth/sandbox/posts',
    'Post as a resident of the sandbox, to see what your workspace makes of it. Only your workspace sees the post. It becomes a signal if a target watches the resident, which is then read at once. The newest 1,000 of such posts are kept.',
    { input: { resident, text, mention }, output: Said },
    saying,
  ),
  reply: op.prepared(
    'POST /api/v1/growth/sandbox/replies',
    'Answer a post as a resident of the sandbox. Counts among the replies of the post. Otherwise like posting as a resident.',
    {
      input: {
        resident,
        post: T.String({
          minLength: 1,
          maxLength: 500,
          description: 'The id or URL of a post in the sandbox.',
        }),
        text,
        mention,
      },
      output: Said,
    },
    { ...saying, errors: [...saying.errors, 'not_found'] },
  ),
}
