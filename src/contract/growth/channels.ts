import { Type as T, type TObject, type TProperties } from '@sinclair/typebox'
import { op } from '../op.ts'
import {
  CadenceSchema,
  FormatRulesSchema,
  growthChannelRecord,
} from '../records/growth/growth-channel.ts'
import { Id, record } from '../shapes.ts'

const GrowthChannel = growthChannelRecord.schema

const partial = <P extends TProperties>(fields: TObject<P>, example: object) =>
  T.Partial(fields, { additionalProperties: false, examples: [example] })

export const growthChannelOperations = {
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
        status: T.Optional(growthChannelRecord.fields.status.shown),
        format_rules: T.Optional(
          partial(FormatRulesSchema, {
            max_length: 240,
            max_hashtags: 1,
            banned_words: ['synergy'],
          }),
        ),
        cadence: T.Optional(
          partial(CadenceSchema, {
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
