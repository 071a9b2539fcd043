import { Type as T } from '@sinclair/typebox'
import { roles } from '#kernel/roles'
import { op } from '../op.ts'
import { Id, NextCursor, nullable, oneOf, page, record, Time } from '../shapes.ts'

export const Email = T.String({
  minLength: 3,
  maxLength: 254,
  format: 'email',
  examples: ['you@example.com'],
})

const emailStates = ['verified', 'unverified', 'lost'] as const
export type EmailStatus = (typeof emailStates)[number]

/** The email fields of every record that shows a person. */
export const address = {
  email: nullable(T.String({ description: 'null once another account verified it.' })),
  email_status: oneOf(emailStates, {
    description:
      'verified: a link printed by the operator proved that the address is theirs. unverified: anyone may have typed it. lost: another account verified it.',
  }),
}
export const NewPassword = T.String({
  minLength: 10,
  maxLength: 200,
  description:
    'At least 10 characters of any kind, not counting leading and trailing spaces. Not your email address or its first part, nor a common password.',
})
/** It has no minimum length, because it is only compared. */
export const GivenPassword = T.String({ minLength: 1, maxLength: 200 })
export const RoleName = oneOf(roles)

export const TokenDelivery = oneOf(['cookie', 'body'], {
  default: 'cookie',
  description:
    'Where to put the tokens: cookie for HttpOnly cookies (browsers), body for the response (programs that send them as Bearer).',
})

const tokens = {
  access_token: T.Optional(
    T.String({ description: 'A JWT, valid for 15 minutes. Only with delivery body.' }),
  ),
  refresh_token: T.Optional(
    T.String({
      description: 'Valid for one refresh. A second use ends the session. Only with delivery body.',
    }),
  ),
}

export const WorkspaceName = record({ id: Id, name: T.String() }, { title: 'WorkspaceName' })

const who = {
  id: Id,
  person: record({ id: Id, ...address, name: T.String() }, { title: 'Person' }),
  workspace: WorkspaceName,
  role: RoleName,
}

export const SignedIn = record(
  { ...who, ...tokens, access_expires_at: Time, expires_at: Time },
  { title: 'SignedIn', description: 'The session, new or continued.' },
)

const Membership = record({ id: Id, name: T.String(), role: RoleName })
const Current = record(
  { ...who, workspaces: T.Array(Membership, { maxItems: 1_000 }) },
  { title: 'CurrentSession' },
)

const Listed = record(
  {
    id: Id,
    kind: oneOf(['browser', 'command_line']),
    current: T.Boolean(),
    user_agent: nullable(T.String()),
    address: nullable(T.String({ description: 'The IP address that signed in.' })),
    created_at: Time,
    last_used_at: Time,
    expires_at: Time,
  },
  { title: 'Session' },
)

const signedIn = record({ session: SignedIn })
const ended = record({ signed_out: T.Integer({ description: 'How many sessions were ended.' }) })
const limited = ['unauthenticated', 'rate_limited'] as const

export const session = {
  signIn: op.public(
    'POST /api/v1/app/session',
    'Sign in with email and password. A wrong password and an unknown email give the same error. If several accounts share an unverified email, the password tells them apart; with more than three, pass workspace_id too.',
    {
      input: {
        email: Email,
        password: GivenPassword,
        workspace_id: T.Optional(
          T.String({
            format: 'uuid',
            description: 'The workspace to sign in to. Default: the one you joined first.',
          }),
        ),
        delivery: T.Optional(TokenDelivery),
      },
      output: signedIn,
    },
    { status: 201, errors: limited },
  ),
  refresh: op.public(
    'POST /api/v1/app/session/refresh',
    'Refresh a session. Takes the refresh token from the cookie, or from the body and then returns the new one in the body. Each token works once; a second use ends the session. By cookie, the request must come from a page of this deployment (403 otherwise), and the previous token still returns an access token for 10 seconds, because two browser tabs may send it at the same time.',
    { input: { refresh_token: T.Optional(T.String({ maxLength: 500 })) }, output: signedIn },
    { errors: limited },
  ),
  get: op.personal(
    'GET /api/v1/app/session',
    "Read the session. Returns the person, the current workspace and role, and the person's other workspaces.",
    { input: {}, output: record({ session: Current }) },
  ),
  switchWorkspace: op.personal(
    'POST /api/v1/app/session/workspace',
    'Switch to another of your workspaces. Everything this session does from now on happens there.',
    { input: { workspace_id: Id }, output: record({ session: Current }) },
    { errors: ['not_found'], repeatable: true },
  ),
  signOut: op.personal(
    'DELETE /api/v1/app/session',
    'Sign out. Ends the session and all its tokens at once.',
    {
      input: {},
      output: ended,
    },
  ),
  changePassword: op.personal(
    'POST /api/v1/app/session/password',
    'Change your password. Ends all your other sessions.',
    { input: { current_password: GivenPassword, new_password: NewPassword }, output: ended },
    { errors: limited },
  ),
  confirm: op.personal(
    'POST /api/v1/app/session/confirm',
    'Confirm your password for this session. In a command-line session, creating a key that lives longer than 30 days and making someone an owner require a password given in the last 10 minutes.',
    {
      input: { current_password: GivenPassword },
      output: record({
        confirmed: record(
          { until: { ...Time, description: 'Your password is not required again until then.' } },
          { title: 'Confirmed' },
        ),
      }),
    },
    { errors: limited, repeatable: true },
  ),
}

export const sessions = {
  list: op.personal('GET /api/v1/app/sessions', 'List your active sessions, newest first.', {
    input: page,
    output: record({ sessions: T.Array(Listed), next_cursor: NextCursor }),
  }),
  revoke: op.personal(
    'DELETE /api/v1/app/sessions/:id',
    'End one of your sessions.',
    { input: { id: Id }, output: ended },
    { errors: ['not_found'], destructive: true },
  ),
  signOutEverywhere: op.personal(
    'DELETE /api/v1/app/sessions',
    'Sign out everywhere. Ends all your sessions at once, including this one. API keys stay.',
    { input: {}, output: ended },
    { destructive: true },
  ),
}
