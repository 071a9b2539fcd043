import { Type as T } from '@sinclair/typebox'
import { op } from '../op.ts'
import { Id, NOT_BLANK, nullable, oneOf, record, Time } from '../shapes.ts'

const most = nullable(T.Integer({ minimum: 0 }))
const length = nullable(T.Integer({ minimum: 1 }))

const rules = {
  min_length: length,
  max_length: length,
  max_emoji: most,
  max_hashtags: most,
  max_links: most,
  max_line_breaks: most,
  banned_words: T.Array(
    T.String({ minLength: 1, maxLength: 60, pattern: NOT_BLANK, examples: ['synergy'] }),
    { maxItems: 100 },
  ),
}

const cadence = {
  days: T.Array(oneOf(['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun']), { maxItems: 7 }),
  times: T.Array(T.String({ format: 'clock-time', examples: ['09:00'] }), {
    maxItems: 24,
    description: 'HH:MM in time_zone.',
  }),
  time_zone: nullable(
    T.String({
      format: 'time-zone',
      maxLength: 64,
      description: "An IANA name; null uses the profile's.",
    }),
  ),
  posts_per_day: nullable(T.Integer({ minimum: 1, maximum: 24 })),
}

const status = oneOf(['active', 'inactive'])
const number = nullable(T.Integer())

/**
 * The output record. It leaves out the bounds of the input, which every operation that returns it
 * would repeat.
 */
export const GrowthChannel = record(
  {
    id: Id,
    name: T.String({ description: 'posts, threads, articles or replies.' }),
    status,
    format_rules: record(
      {
        ...{
          min_length: number,
          max_length: number,
          max_emoji: number,
          max_hashtags: number,
          max_links: number,
          max_line_breaks: number,
        },
        banned_words: T.Array(T.String()),
      },
      { title: 'FormatRules' },
    ),
    cadence: record(
      {
        days: T.Array(T.String()),
        times: T.Array(T.String()),
        time_zone: nullable(T.String()),
        posts_per_day: number,
      },
      { title: 'Cadence' },
    ),
    created_at: Time,
    updated_at: Time,
  },
  { title: 'GrowthChannel', description: 'Where and how often to post.' },
)

const partial = (fields: typeof rules | typeof cadence, example: object) =>
  T.Partial(T.Object(fields), { additionalProperties: false, examples: [example] })

export const channels = {
  list: op.query(
    'GET /api/v1/growth/channels',
    'List the channels: where, how often and in what form to post.',
    {
      input: {},
      output: record({
        channels: T.Array(GrowthChannel, { description: 'All of them; a workspace has four.' }),
      }),
    },
  ),
  update: op.command(
    'PUT /api/v1/growth/channels/:id',
    'Update a channel. The overview has its id. Omitted fields keep their value; null removes a rule. Rules apply to new drafts and at approval. A maximum of 0 forbids; lengths are those the network counts. ' +
      'Inactive: no new batches (posts) or articles; existing items continue. Threads are not drafted yet.',
    {
      input: {
        id: Id,
        status: T.Optional(status),
        format_rules: T.Optional(
          partial(rules, { max_length: 240, max_hashtags: 1, banned_words: ['synergy'] }),
        ),
        cadence: T.Optional(
          partial(cadence, {
            days: ['tue', 'thu'],
            times: ['09:00', '17:30'],
            time_zone: 'Europe/Berlin',
          }),
        ),
      },
      output: record({ channel: GrowthChannel }),
    },
    {
      tool: 'growth_update_channel',
      agent: 'commit',
      errors: ['not_found'],
      roles: ['editor'],
      repeatable: true,
    },
  ),
}
