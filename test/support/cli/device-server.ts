/**
 * The authorization server of RFC 8628 and RFC 7009 as the command line sees it; a test controls
 * the approval.
 */
import { type Asked, type Scripted, type ScriptedServer, scriptedServer } from './scripted.ts'

const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code'

export interface DeviceServer extends ScriptedServer {
  /** Revoked tokens. */
  revoked: string[]
  /** Received forms, by the last part of their path. */
  forms: { to: string; fields: Record<string, string> }[]
}

export interface DeviceOptions {
  /** Answers to the polls, in order; the last one stays. */
  polls: readonly Scripted[]
  code?: Record<string, unknown>
  /** Default: a connected account. */
  connection?: Scripted
  revoke?: Scripted
}

export const oauthError = (error: string, status = 400): Scripted => ({
  status,
  body: { error, error_description: `because of ${error}` },
})

export const granted = (token: string, more: Record<string, unknown> = {}): Scripted => ({
  body: {
    access_token: token,
    token_type: 'Bearer',
    scope: 'api:read api:write mcp:use',
    workspace: { id: 'w-1', name: 'Nordfracht' },
    ...more,
  },
})

const connected: Scripted = {
  body: { connection: { connected: true, tier: 'free', account: null } },
}

const isForm = ({ headers }: Asked): boolean =>
  headers.get('content-type') === 'application/x-www-form-urlencoded'

export const deviceServer = ({
  polls,
  code = {},
  connection = connected,
  revoke = {},
}: DeviceOptions): DeviceServer => {
  const revoked: string[] = []
  const forms: DeviceServer['forms'] = []
  let polled = 0
  const answers: Record<string, (fields: Record<string, string>) => Scripted> = {
    code: () => ({
      body: {
        device_code: 'device-1',
        user_code: 'BCDF-GHJK',
        verification_uri: 'https://tendril.example.com/device',
        verification_uri_complete: 'https://tendril.example.com/device?user_code=BCDF-GHJK',
        expires_in: 600,
        interval: 5,
        ...code,
      },
    }),
    token: ({ device_code, grant_type, client_id }) => {
      if (device_code !== 'device-1' || grant_type !== DEVICE_GRANT || client_id !== 'tendril-cli')
        return oauthError('invalid_request')
      return polls[polled++] ?? polls.at(-1)!
    },
    revoke: ({ token = '' }) => {
      if ((revoke.status ?? 200) === 200) revoked.push(token)
      return revoke
    },
  }
  const server = scriptedServer((asked) => {
    const to = /^\/api\/v1\/app\/device\/(\w+)$/.exec(asked.path)?.[1]
    if (to === undefined) return connection
    if (asked.method !== 'POST' || !isForm(asked)) return oauthError('invalid_request')
    const fields = Object.fromEntries(new URLSearchParams(asked.body))
    forms.push({ to, fields })
    return answers[to]?.(fields) ?? oauthError('invalid_request')
  })
  return { ...server, revoked, forms }
}
