/** People who have joined a test's workspace, and devices that ask them. */

import type { Role } from '#kernel/roles'
import { inviteByOperator } from '#ops/workspaces'
import type { TestApp } from './app.ts'

export const PASSWORD = 'correct horse battery'
export const GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:device_code'

let count = 0

export const inviteTo = async (app: TestApp, { tenantId = app.tenantId, role = 'owner' as Role } = {}): Promise<string> => {
  const url = await inviteByOperator({ db: app.workplace.db, publicUrl: app.url }, { tenantId, role })
  return new URL(url).searchParams.get('token')!
}

export interface Joined {
  email: string
  id: string
  personId: string
  access: string
  refresh: string
}

/** Somebody who has just joined, or joined another workspace, with tokens in hand. */
export const joinAs = async (
  app: TestApp,
  { tenantId, role, email = `p${++count}@example.com` }: { tenantId?: string; role?: Role; email?: string } = {},
): Promise<Joined> => {
  const token = await inviteTo(app, { ...(tenantId ? { tenantId } : {}), ...(role ? { role } : {}) })
  const body = { token, email, password: PASSWORD, name: 'Ann', delivery: 'body' }
  const reply = await app.send('POST', '/api/v1/app/invitations/accept', { key: null, body })
  if (reply.status !== 201) throw new Error(`joining: ${reply.text}`)
  const { id, person, access_token, refresh_token } = reply.body.session
  return { email, id, personId: person.id, access: access_token, refresh: refresh_token }
}

/** A form, as a device or a browser sends it. */
export const sendForm = (app: TestApp, path: string, form: Record<string, string>, headers: Record<string, string> = {}) =>
  app.send('POST', path, {
    key: null,
    body: new URLSearchParams(form).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
  })

export const askForCode = async (app: TestApp, more: Record<string, string> = {}) =>
  (await sendForm(app, '/api/v1/app/device/code', { client_id: 'tendril-cli', device_name: 'laptop', ...more })).body as {
    device_code: string
    user_code: string
    verification_uri: string
    verification_uri_complete: string
    expires_in: number
    interval: number
  }

export const askForToken = (app: TestApp, device_code: string, more: Record<string, string> = {}) =>
  sendForm(app, '/api/v1/app/device/token', { grant_type: GRANT_TYPE, client_id: 'tendril-cli', device_code, ...more })

export const decide = (app: TestApp, key: string, user_code: string, more: Record<string, string> = {}) =>
  app.send('POST', '/api/v1/app/device', { key, body: { user_code, decision: 'approve', ...more } })
