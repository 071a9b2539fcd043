import { Type as T } from '@sinclair/typebox'
import { op } from '../op.ts'
import { Id, record } from '../shapes.ts'
import { ConnectionSchema, InFlight } from '../shared-records.ts'

const answer = record({ connection: ConnectionSchema })

const UnfitDrafts = T.Array(record({ item_id: Id, message: T.String() }), {
  description:
    'Of the 100 newest drafts, those that are too long for the account, are articles that it does not take, or name somebody in the way of another network.',
})

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
        handle: T.String({
          minLength: 1,
          maxLength: 253,
          examples: ['alice.bsky.social'],
          description: 'The handle or the DID of the account.',
        }),
        app_password: T.String({
          minLength: 1,
          maxLength: 200,
          examples: ['abcd-efgh-ijkl-mnop'],
          description:
            'An app password, never the password of the account. It is sealed, and never shown.',
        }),
        service: T.Optional(
          T.String({
            maxLength: 300,
            examples: ['https://bsky.social'],
            description: 'The server to sign in at. Default: the one of this deployment.',
          }),
        ),
        keep: T.Optional(
          T.Boolean({
            description:
              'Whether the app password is kept, so that a session that Bluesky has ended can be begun again without you. Default: true.',
          }),
        ),
        default: T.Optional(
          T.Boolean({ description: 'Whether new approvals use this account from now on.' }),
        ),
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
