import { Type as T } from '@sinclair/typebox'
import { op } from '../op.ts'
import { Id, nullable, oneOf, record, Time } from '../shapes.ts'
import { ConnectionSchema, InFlight } from '../shared-records.ts'

const answer = record({ connection: ConnectionSchema })

const UnfitDrafts = T.Array(record({ item_id: Id, message: T.String() }), {
  description:
    'Of the 100 newest drafts, those that are too long for the account, are articles that it does not take, or name somebody in the way of another network.',
})

const Handle = T.String({
  minLength: 1,
  maxLength: 253,
  examples: ['alice.bsky.social'],
  description: 'The handle or the DID of the account.',
})

const Service = T.String({
  maxLength: 300,
  examples: ['https://bsky.social'],
  description: 'The server to sign in at. Default: the one of this deployment.',
})

const Default = T.Boolean({ description: 'Whether new approvals use this account from now on.' })

const Authorization = record(
  {
    id: Id,
    network: T.String(),
    url: T.String({
      description:
        'The page to open in the browser of the person who began this. It leads to the network.',
    }),
    handle: nullable(T.String({ description: 'The account that was named.' })),
    status: oneOf(['pending', 'connected', 'refused', 'expired'], {
      description: 'expired: nobody came back in time, so nothing was connected.',
    }),
    reason: nullable(T.String({ description: 'Why nothing was connected, and what to do.' })),
    account: nullable(
      record({
        id: Id,
        handle: T.String(),
        display_name: nullable(T.String({ description: 'As its network shows it.' })),
        is_default: T.Boolean(),
      }),
    ),
    expires_at: Time,
    created_at: Time,
  },
  {
    title: 'AccountAuthorization',
    description: 'A sign-in to an account, which a person ends on a page of the network.',
  },
)

const authorizationAnswer = record({ authorization: Authorization })

export const appConnections = {
  connectSandbox: op.prepared(
    'POST /api/v1/app/connections/sandbox',
    'Connect an account of the sandbox, the built-in network. Reconnecting a handle restores its account. The same handle in another workspace is a different account. The first account becomes the default.',
    {
      input: {
        handle: T.Optional(
          T.String({
            minLength: 1,
            maxLength: 51,
            examples: ['dockside'],
            description:
              'Letters, digits, dots, dashes or underscores. Default: a handle made for the workspace.',
          }),
        ),
      },
      output: answer,
    },
    { scope: 'session', status: 201, errors: ['conflict', 'network_error'], outside: true },
  ),
  connectBluesky: op.prepared(
    'POST /api/v1/app/connections/bluesky',
    'Connect a Bluesky account by an app password. Bluesky makes those under Settings, Privacy and security, App passwords. Connecting an account again keeps its id, its schedule and what was approved for it. The first account becomes the default, and so does the first one outside of the sandbox.',
    {
      input: {
        handle: Handle,
        app_password: T.String({
          minLength: 1,
          maxLength: 200,
          examples: ['abcd-efgh-ijkl-mnop'],
          description:
            'An app password, never the password of the account. It is sealed, and never shown.',
        }),
        service: T.Optional(Service),
        keep: T.Optional(
          T.Boolean({
            description:
              'Whether the app password is kept, so that a session that Bluesky has ended can be begun again without you. Default: true.',
          }),
        ),
        default: T.Optional(Default),
      },
      output: record({ connection: ConnectionSchema, unfit_drafts: UnfitDrafts }),
    },
    {
      scope: 'session',
      status: 201,
      errors: ['conflict', 'network_error', 'rate_limited'],
      outside: true,
    },
  ),
  authorizeBluesky: op.command(
    'POST /api/v1/app/connections/bluesky/authorize',
    'Begin to connect a Bluesky account by OAuth. Open the url of the answer in your browser within ten minutes: it leads to a page of Bluesky, where you grant access. No password is given to this deployment.',
    {
      input: {
        handle: T.Optional(Handle),
        service: T.Optional(Service),
        default: T.Optional(Default),
      },
      output: authorizationAnswer,
    },
    { scope: 'session', status: 201, errors: ['conflict'] },
  ),
  authorization: op.query(
    'GET /api/v1/app/connections/authorizations/:id',
    'Read how a sign-in by OAuth stands. Poll it every two seconds while it is pending.',
    { input: { id: Id }, output: authorizationAnswer },
    { errors: ['not_found'] },
  ),
  disconnect: op.command(
    'DELETE /api/v1/app/connections/:id',
    'Disconnect an account, end its session and erase its credentials. Recalls posts and engagements that are not sent yet. Scheduled posts stay, and return to approved if their account is not connected when they fall due. No other account becomes the default. Returns the remaining default account, and in in_flight what is on its way already, which takes its outcome.',
    { input: { id: Id }, output: record({ connection: ConnectionSchema, in_flight: InFlight }) },
    {
      scope: 'session',
      errors: ['not_found'],
      urgent: true,
      exempt: ['rates', 'answers'],
      destructive: true,
    },
  ),
}
