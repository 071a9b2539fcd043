/** Where and how often to post. */
import { Type as T } from '@sinclair/typebox'
import { NOT_BLANK, nullable, oneOf, record } from '../../shapes.ts'
import { id, times } from '../fields.ts'
import { declare } from '../record.ts'

const most = nullable(T.Integer({ minimum: 0 }))
const length = nullable(T.Integer({ minimum: 1 }))

/** Null means no rule. A maximum of 0 forbids the element. */
export const FormatRulesSchema = T.Object({
  min_length: length,
  max_length: length,
  max_emoji: most,
  max_hashtags: most,
  max_links: most,
  max_line_breaks: most,
  // Words or phrases, matched as whole words whatever their case or width.
  banned_words: T.Array(
    T.String({ minLength: 1, maxLength: 60, pattern: NOT_BLANK, examples: ['synergy'] }),
    { maxItems: 100 },
  ),
})

export const weekdays = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const

/** Without days or without times, there are no slots. */
export const CadenceSchema = T.Object({
  days: T.Array(oneOf(weekdays), { maxItems: 7 }),
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
  // Null: one post for each time.
  posts_per_day: nullable(T.Integer({ minimum: 1, maximum: 24 })),
})

const number = nullable(T.Integer())

/**
 * The output schema leaves out the bounds of the input. Otherwise every operation that returns it
 * would repeat them.
 */
export const growthChannelRecord = declare(
  'growth_channel',
  { title: 'GrowthChannel', description: 'Where and how often to post.' },
  {
    id,
    name: {
      type: 'text',
      shown: T.String({ description: 'posts, threads, articles or replies.' }),
      fixed: true,
    },
    status: { type: 'text', shown: oneOf(['active', 'inactive']) },
    format_rules: {
      type: 'jsonb',
      of: FormatRulesSchema,
      shown: record(
        {
          min_length: number,
          max_length: number,
          max_emoji: number,
          max_hashtags: number,
          max_links: number,
          max_line_breaks: number,
          banned_words: T.Array(T.String()),
        },
        { title: 'FormatRules' },
      ),
    },
    cadence: {
      type: 'jsonb',
      of: CadenceSchema,
      shown: record(
        {
          days: T.Array(T.String()),
          times: T.Array(T.String()),
          time_zone: nullable(T.String()),
          posts_per_day: number,
        },
        { title: 'Cadence' },
      ),
    },
    ...times,
  },
)
