/** People who join workspaces and sign in over HTTP, and devices that they approve. */
import type { Role } from '#kernel/roles'
import { inviteByOperator } from '#ops/operator/admin/workspaces'
import type { TestApp } from './app.ts'

export const PASSWORD = 'correct horse battery'
export const GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:device_code'

let count = 0

/** The token in the link of an invitation or a password reset. */
export const tokenIn = (url: string): string => new URL(url).searchParams.get('token')!

interface Invitation {
  tenantId?: string
  role?: Role
  /** Proves this address for the person who accepts. */
  email?: string | undefined
}

/** The token of an invitation by the operator. */
export const inviteTo = async (
  app: TestApp,
  { tenantId = app.tenantId, role = 'owner', email }: Invitation = {},
): Promise<string> =>
  tokenIn(
    await inviteByOperator({ db: app.workplace.db, publicUrl: app.url }, { tenantId, role, email }),
  )

/** Accepts an invitation; the answer has the tokens in its body. */
export const acceptInvitation = (
  app: TestApp,
  input: { token: string; email?: string; password?: string; name?: string },
) =>
  app.send('POST', '/api/v1/app/invitations/accept', {
    key: null,
    body: { password: PASSWORD, delivery: 'body', ...input },
  })

/** Signs in; the answer has the tokens in its body. */
export const signIn = (
  app: TestApp,
  email: string,
  password = PASSWORD,
  more: { workspace_id?: string } = {},
) =>
  app.send('POST', '/api/v1/app/session', {
    key: null,
    body: { email, password, delivery: 'body', ...more },
  })

/**
 * Signs in as a browser does, which gets its tokens as cookies. `cookie`: the cookies that it
 * already has.
 */
export const signInBrowser = (app: TestApp, email: string, password = PASSWORD, cookie?: string) =>
  app.send('POST', '/api/v1/app/session', {
    key: null,
    body: { email, password },
    headers: cookie ? { cookie } : {},
  })

/** Forgets failed attempts of all addresses and accounts. */
export const forgetAttempts = async ({ owner }: Pick<TestApp, 'owner'>): Promise<void> => {
  await owner`delete from throttle`
}

export interface Joined {
  email: string
  id: string
  personId: string
  access: string
  refresh: string
}

/**
 * A person who has just joined, with their tokens; with a known `email`, they join another
 * workspace.
 */
export const joinAs = async (
  app: TestApp,
  {
    tenantId,
    role,
    email = `p${++count}@example.com`,
  }: { tenantId?: string; role?: Role; email?: string } = {},
): Promise<Joined> => {
  const token = await inviteTo(app, {
    ...(tenantId ? { tenantId } : {}),
    ...(role ? { role } : {}),
  })
  const reply = await acceptInvitation(app, { token, email, name: 'Ann' })
  if (reply.status !== 201) throw new Error(`joining: ${reply.text}`)
  const { id, person, access_token, refresh_token } = reply.body.session
  return { email, id, personId: person.id, access: access_token, refresh: refresh_token }
}

/** Sends a form, as devices and browsers do. */
export const sendForm = (
  app: TestApp,
  path: string,
  form: Record<string, string>,
  headers: Record<string, string> = {},
) =>
  app.send('POST', path, {
    key: null,
    body: new URLSearchParams(form).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
  })

export const askForCode = async (app: TestApp, more: Record<string, string> = {}) =>
  (
    await sendForm(app, '/api/v1/app/device/code', {
      client_id: 'tendril-cli',
      device_name: 'laptop',
      ...more,
    })
  ).body as {
    device_code: string
    user_code: string
    verification_uri: string
    verification_uri_complete: string
    expires_in: number
    interval: number
  }

export const askForToken = (app: TestApp, device_code: string, more: Record<string, string> = {}) =>
  sendForm(app, '/api/v1/app/device/token', {
    grant_type: GRANT_TYPE,
    client_id: 'tendril-cli',
    device_code,
    ...more,
  })

export const decide = (
  app: TestApp,
  key: string,
  user_code: string,
  more: Record<string, string> = {},
) =>
  app.send('POST', '/api/v1/app/device', { key, body: { user_code, decision: 'approve', ...more } })

/**
 * The token of a new device that the person approves, with the scopes and the workspace that were
 * granted.
 */
export const approvedToken = async (
  app: TestApp,
  { access }: { access: string },
  more: Record<string, string> = {},
) => {
  const { device_code, user_code } = await askForCode(app, more)
  const { status, text } = await decide(app, access, user_code)
  if (status !== 200) throw new Error(`approving: ${text}`)
  return (await askForToken(app, device_code)).body
}
