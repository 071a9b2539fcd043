import { Type as T } from '@sinclair/typebox'
import { op } from '../op.ts'
import { oneOf, record, Time } from '../shapes.ts'
import { RoleName, WorkspaceName } from './session.ts'

const UserCode = T.String({
  minLength: 8,
  maxLength: 40,
  description: 'The code shown on the device. Case, spaces and dashes are ignored.',
  examples: ['BCDF-GHJK'],
})

const Decision = oneOf(['approve', 'deny'])
const Scopes = T.Array(T.String(), {
  maxItems: 4,
  description: 'Scopes of an API key; or session, to act as the person for an hour.',
})

const DeviceRequest = record(
  {
    user_code: T.String({ description: 'The code. Check that the device shows the same one.' }),
    client_id: T.String(),
    device_name: T.String({ description: 'The name that the device gives itself.' }),
    address: T.String({ description: 'The IP address of the device.' }),
    scopes: Scopes,
    grantable: T.Array(T.String(), {
      maxItems: 4,
      description: 'The scopes that your role can grant.',
    }),
    workspace: WorkspaceName,
    role: RoleName,
    created_at: Time,
    expires_at: Time,
  },
  {
    title: 'DeviceRequest',
    description: 'A device that requests access to your current workspace in your name.',
  },
)

const Decided = record({ decision: Decision, scopes: Scopes, workspace: WorkspaceName })

const limited = ['not_found', 'rate_limited'] as const

export const device = {
  find: op.personal(
    'GET /api/v1/app/device',
    'Read the request behind a device code. A wrong, used or expired code gives the same error. Wrong codes are rate limited.',
    { input: { user_code: UserCode }, output: record({ request: DeviceRequest }) },
    { errors: limited },
  ),
  decide: op.personal(
    'POST /api/v1/app/device',
    'Approve or deny a device. An approved device acts in your name in this workspace, and can never do more than you can.',
    {
      input: {
        user_code: UserCode,
        decision: Decision,
        workspace_id: T.Optional(
          T.String({
            format: 'uuid',
            description: 'The workspace shown to you. Refused if you have switched since.',
          }),
        ),
      },
      output: record({ device: Decided }),
    },
    { errors: [...limited, 'conflict'] },
  ),
}
