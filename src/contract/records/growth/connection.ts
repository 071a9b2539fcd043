/** An account on a network. One connected account is the default, which sends new content. */
import { Type as T } from '@sinclair/typebox'
import { Id, nullable, oneOf, record } from '../../shapes.ts'
import { id, times } from '../fields.ts'
import { declare } from '../record.ts'

export const connectionRecord = declare(
  'connection',
  { title: 'Account' },
  {
    id,
    network: {
      type: 'text',
      shown: T.String({ description: 'The network, for example sandbox.' }),
      fixed: true,
    },
    external_id: {
      type: 'text',
      shown: T.String({ description: "The network's id of the account." }),
      fixed: true,
    },
    handle: { type: 'text', shown: T.String() },
    display_name: {
      type: 'text',
      shown: nullable(T.String({ description: 'As its network shows it.' })),
    },
    status: {
      type: 'text',
      shown: oneOf(['connected', 'needs_reauth', 'suspended', 'disconnected'], {
        description:
          'needs_reauth: the network no longer accepts what the account was connected with; connect it again. suspended: the network has stopped the account.',
      }),
    },
    status_reason: {
      type: 'text',
      shown: nullable(T.String({ description: 'Why it no longer sends. Null while it does.' })),
    },
    reading_reason: {
      type: 'text',
      shown: nullable(
        T.String({
          description:
            'What of its network cannot be read, such as mentions and numbers, and why. Null while nothing is missing.',
        }),
      ),
    },
    // Sealed, in base64.
    credentials: { type: 'text', null: true, hidden: 'secrets', unexported: 'secrets' },
    is_default: {
      type: 'boolean',
      shown: T.Boolean({ description: 'True when new approvals use this account.' }),
    },
    ...times,
  },
)

export const PostingAccount = record(
  { id: Id, handle: T.String(), network: T.String() },
  {
    description:
      'The account that sends it: the one of its approval, or else the chosen or the default one.',
  },
)
