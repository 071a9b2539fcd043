/** An API key of a workspace. */
import { Type as T } from '@sinclair/typebox'
import { scopes } from '#kernel/scopes'
import { Id, nullable, oneOf, record, Time } from '../../shapes.ts'
import { id, times } from '../fields.ts'
import { declare } from '../record.ts'

export const keyRecord = declare(
  'api_key',
  { title: 'ApiKey', description: 'person is the owner of the key, or null for a workspace key.' },
  {
    id,
    name: { type: 'text', shown: T.String() },
    last4: {
      type: 'text',
      shown: T.String({ description: 'The last four characters of the key.' }),
    },
    scopes: { type: 'text[]', shown: T.Array(oneOf(scopes)) },
    person: {
      shown: nullable(
        record({
          id: Id,
          email: nullable(T.String({ description: 'null once this person leaves the workspace.' })),
        }),
      ),
      from: 'query',
    },
    created_at: times.created_at,
    expires_at: { type: 'timestamp with time zone', shown: nullable(Time) },
    revoked_at: { type: 'timestamp with time zone', shown: nullable(Time) },
    last_used_at: { type: 'timestamp with time zone', shown: nullable(Time) },
    person_id: { type: 'uuid', null: true, hidden: 'shown as person', from: 'elsewhere' },
    hash: {
      type: 'bytea',
      hidden: 'by which the key is found',
      from: 'elsewhere',
      unexported: 'a secret',
    },
  },
)
