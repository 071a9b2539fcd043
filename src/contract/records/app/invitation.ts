/** A link by which somebody joins a workspace. */
import { Type as T } from '@sinclair/typebox'
import { roles } from '#kernel/roles'
import { nullable, oneOf, Time } from '../../shapes.ts'
import { id, times } from '../fields.ts'
import { declare } from '../record.ts'

export const invitationRecord = declare(
  'invitation',
  { title: 'Invitation' },
  {
    id,
    email: {
      type: 'text',
      shown: nullable(T.String({ description: 'null: anyone with the link can join.' })),
    },
    role: { type: 'text', shown: oneOf(roles) },
    status: { shown: oneOf(['open', 'accepted', 'revoked', 'expired']), from: 'query' },
    invited_by: {
      type: 'uuid',
      shown: nullable(
        T.String({
          format: 'uuid',
          description: 'The person who invited; null for the operator of the deployment.',
        }),
      ),
    },
    created_at: times.created_at,
    expires_at: { type: 'timestamp with time zone', shown: Time },
    accepted_at: { type: 'timestamp with time zone', shown: nullable(Time) },
    accepted_by: {
      type: 'uuid',
      shown: nullable(T.String({ format: 'uuid', description: 'The person who accepted.' })),
    },
    revoked_at: { type: 'timestamp with time zone', shown: nullable(Time) },
    proves_email: {
      type: 'boolean',
      hidden: 'whether its link proves that the email is that of whoever joins',
      from: 'elsewhere',
    },
    token_hash: {
      type: 'bytea',
      hidden: 'by which its link is found',
      from: 'elsewhere',
      unexported: 'a secret',
    },
  },
)
