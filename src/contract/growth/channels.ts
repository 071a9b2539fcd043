import { Type as T } from '@sinclair/typebox'
import { op } from '../op.ts'
import { Id, nullable, oneOf, record, Time } from '../shapes.ts'

const count = (maximum: number, description?: string) =>
  nullable(T.Integer({ minimum: 0, maximum, ...(description ? { description } : {}) }))
const length = (description?: string) => nullable(T.Integer({ minimum: 1, maximum: 25_000, ...(description ? { description } : {}) }))

const rules = {
  min_length: length("In the network's own measure."),
  max_length: length(),
  max_emoji: count(1_000, '0 forbids them.'),
  max_hashtags: count(1_000),
  max_links: count(1_000),
  max_line_breaks: count(1_000),
  banned_words: T.Array(T.String({ minLength: 1, maxLength: 60, pattern: '\\S', examples: ['synergy'] }), {
    maxItems: 100,
    description: 'Words or phrases, whatever their case.',
  }),
}

const cadence = {
  days: T.Array(oneOf(['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun']), { maxItems: 7 }),
  times: T.Array(T.String({ format: 'clock-time', examples: ['09:00'] }), {
    maxItems: 24,
    description: 'HH:MM on the clocks of time_zone.',
  }),
  time_zone: nullable(T.String({ format: 'time-zone', maxLength: 64, description: "IANA; null: the profile's." })),
  posts_per_day: nullable(T.Integer({ minimum: 1, maximum: 24, description: "Of this channel's posts." })),
}

const status = oneOf(['active', 'inactive'])

export const GrowthChannel = record(
  {
    id: Id,
    name: T.String({ description: 'posts, threads, articles or replies.' }),
    status,
    format_rules: record(rules, { title: 'FormatRules', description: 'Null: not ruled.' }),
    cadence: record(cadence, { title: 'Cadence', description: 'No days and no times: no slots.' }),
    created_at: Time,
    updated_at: Time,
  },
  { title: 'GrowthChannel', description: 'Where and how often to post.' },
)

const partial = (fields: typeof rules | typeof cadence) => T.Partial(T.Object(fields), { additionalProperties: false })

export const channels = {
  update: op(
    'PUT /api/v1/growth/channels/:id',
    'Update a channel (ids: overview): status, format rules, cadence. What is absent stays; null takes a rule away. ' +
      'Rules hold for new drafts, and for texts at approval (400 names the rule). An inactive posts or articles channel refuses new batches or articles (409); ' +
      'items that exist go on. The cadence gives post_at next_slot its slots. Nothing drafts threads yet.',
    {
      input: {
        id: Id,
        status: T.Optional(status),
        format_rules: T.Optional(partial(rules)),
        cadence: T.Optional(partial(cadence)),
      },
      output: record({ channel: GrowthChannel }),
    },
    { tool: 'growth_update_channel', errors: ['not_found'], roles: ['editor'], repeatable: true },
  ),
}
