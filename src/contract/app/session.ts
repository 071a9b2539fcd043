import { Type as T } from '@sinclair/typebox'
import { roles } from '#kernel/roles'
import { door } from '../op.ts'
import { Id, NextCursor, nullable, oneOf, page, record, Time } from '../shapes.ts'

export const Email = T.String({ minLength: 3, maxLength: 254, format: 'email', examples: ['you@example.com'] })

const emailStates = ['verified', 'unverified', 'lost'] as const
export type EmailStatus = (typeof emailStates)[number]

/** Whose email an account has, wherever people are shown. */
export const address = {
  email: nullable(T.String({ description: 'null once somebody else has proven that it is theirs.' })),
  email_status: oneOf(emailStates, {
    description:
      'verified: a link that was printed by the operator for this address has shown that it is theirs. unverified: nothing has; anybody may have typed it. lost: somebody else has proven it to be theirs.',
  }),
}
export const NewPassword = T.String({
  minLength: 10,
  maxLength: 200,
  description:
    'At least 10 characters, not counting spaces at its ends; any characters. Not the email address nor its first part, and none of the most common passwords.',
})
/** Of any length, because it is only compared. */
export const GivenPassword = T.String({ minLength: 1, maxLength: 200 })
export const RoleName = oneOf(roles)

export const Delivery = oneOf(['cookie', 'body'], {
  default: 'cookie',
  description: 'Where the tokens go: into HttpOnly cookies, for browsers, or into the answer, for programs that send them as Bearer.',
})

const tokens = {
  access_token: T.Optional(T.String({ description: 'A JWT, good for a quarter of an hour. With delivery body.' })),
  refresh_token: T.Optional(T.String({ description: 'For one refresh. Used a second time, it ends the session. With delivery body.' })),
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
  { title: 'SignedIn', description: 'A session that has begun or goes on.' },
)

const Membership = record({ id: Id, name: T.String(), role: RoleName })
const Current = record({ ...who, workspaces: T.Array(Membership, { maxItems: 1_000 }) }, { title: 'CurrentSession' })

const Listed = record(
  {
    id: Id,
    kind: oneOf(['browser', 'command_line']),
    current: T.Boolean(),
    user_agent: nullable(T.String()),
    address: nullable(T.String({ description: 'From where it began.' })),
    created_at: Time,
    last_used_at: Time,
    expires_at: Time,
  },
  { title: 'Session' },
)

const signedIn = record({ session: SignedIn })
const ended = record({ signed_out: T.Integer({ description: 'How many sessions have ended.' }) })
const limited = ['unauthenticated', 'rate_limited'] as const

export const session = {
  signIn: door(
    'POST /api/v1/app/session',
    'Sign in with email and password. Says the same for a wrong password as for an email that nobody has. Where several accounts have an unverified email, the password tells them apart; of more than three, give the workspace too.',
    {
      input: {
        email: Email,
        password: GivenPassword,
        workspace_id: T.Optional(T.String({ format: 'uuid', description: 'At which workspace; the one joined first when absent.' })),
        delivery: T.Optional(Delivery),
      },
      output: signedIn,
    },
    { scope: 'public', status: 201, errors: limited },
  ),
  refresh: door(
    'POST /api/v1/app/session/refresh',
    'Go on with a session. Takes the refresh token from its cookie, or from the body and then answers there. Each token is good once, and its second use ends the session; by cookie the token before the newest one still brings an access token for 10 seconds, because two tabs of a browser may send it at once.',
    { input: { refresh_token: T.Optional(T.String({ maxLength: 500 })) }, output: signedIn },
    { scope: 'public', errors: limited },
  ),
  get: door(
    'GET /api/v1/app/session',
    'Read the session. Who is signed in, at which workspace, in which role, and the other workspaces of this person.',
    { input: {}, output: record({ session: Current }) },
    { scope: 'session' },
  ),
  switchWorkspace: door(
    'POST /api/v1/app/session/workspace',
    'Go on at another workspace of yours. All that this session does from now on is there.',
    { input: { workspace_id: Id }, output: record({ session: Current }) },
    { scope: 'session', errors: ['not_found'], repeatable: true },
  ),
  signOut: door(
    'DELETE /api/v1/app/session',
    'Sign out. The session ends at once, with all its tokens.',
    { input: {}, output: ended },
    { scope: 'session' },
  ),
  changePassword: door(
    'POST /api/v1/app/session/password',
    'Change your password. All other sessions of yours end.',
    { input: { current_password: GivenPassword, new_password: NewPassword }, output: ended },
    { scope: 'session', errors: limited },
  ),
  confirm: door(
    'POST /api/v1/app/session/confirm',
    'Give your password again, for this session. In a session of the command line, what outlasts it asks for this when the password was given more than 10 minutes ago: keys that live longer than 30 days, and making owners.',
    {
      input: { current_password: GivenPassword },
      output: record({
        confirmed: record({ until: { ...Time, description: 'It is not asked for again until then.' } }, { title: 'Confirmed' }),
      }),
    },
    { scope: 'session', errors: limited, repeatable: true },
  ),
}

export const sessions = {
  list: door(
    'GET /api/v1/app/sessions',
    'List your sessions that have not ended, newest first.',
    { input: page, output: record({ sessions: T.Array(Listed), next_cursor: NextCursor }) },
    { scope: 'session' },
  ),
  revoke: door(
    'DELETE /api/v1/app/sessions/:id',
    'End one of your sessions.',
    { input: { id: Id }, output: ended },
    { scope: 'session', errors: ['not_found'], destructive: true },
  ),
  signOutEverywhere: door(
    'DELETE /api/v1/app/sessions',
    'Sign out everywhere. All sessions of yours end at once, this one too; API keys stay.',
    { input: {}, output: ended },
    { scope: 'session', destructive: true },
  ),
}
