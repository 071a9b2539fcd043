import { Type as T } from '@sinclair/typebox'
import { door } from '../op.ts'
import { oneOf, record, Time } from '../shapes.ts'
import { RoleName, WorkspaceName } from './session.ts'

const UserCode = T.String({
  minLength: 8,
  maxLength: 40,
  description: 'The code that the device shows. Case, spaces and dashes do not matter.',
  examples: ['BCDF-GHJK'],
})

const Decision = oneOf(['approve', 'deny'])
const Scopes = T.Array(T.String(), { maxItems: 4, description: 'Scopes of an API key, or session: to act as the person for an hour.' })

const DeviceRequest = record(
  {
    user_code: T.String({ description: 'As the device has to show it too: compare them.' }),
    client_id: T.String(),
    device_name: T.String({ description: 'What the device says of itself.' }),
    address: T.String({ description: 'From where it asks.' }),
    scopes: Scopes,
    grantable: T.Array(T.String(), { maxItems: 4, description: 'Those that your role can give.' }),
    workspace: WorkspaceName,
    role: RoleName,
    created_at: Time,
    expires_at: Time,
  },
  { title: 'DeviceRequest', description: 'A device that asks to act for you at the workspace where you are signed in.' },
)

const Decided = record({ decision: Decision, scopes: Scopes, workspace: WorkspaceName })

const limited = ['not_found', 'rate_limited'] as const

export const device = {
  find: door(
    'GET /api/v1/app/device',
    'Read what asks under a device code. Says the same for a code that is wrong, decided on or too old; few wrong ones are taken.',
    { input: { user_code: UserCode }, output: record({ request: DeviceRequest }) },
    { scope: 'session', errors: limited },
  ),
  decide: door(
    'POST /api/v1/app/device',
    'Approve or deny a device. Once approved it acts in your name at this workspace, and may never do more than you.',
    {
      input: {
        user_code: UserCode,
        decision: Decision,
        workspace_id: T.Optional(
          T.String({ format: 'uuid', description: 'The workspace that was shown: refused when yours is another by now.' }),
        ),
      },
      output: record({ device: Decided }),
    },
    { scope: 'session', errors: [...limited, 'conflict'] },
  ),
}
