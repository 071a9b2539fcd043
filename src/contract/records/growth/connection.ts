/** An account on a network. One connected account is the default, which sends new content. */
import { Type as T } from '@sinclair/typebox'
import { oneOf } from '../../shapes.ts'
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
    status: { type: 'text', shown: oneOf(['connected', 'disconnected']) },
    is_default: {
      type: 'boolean',
      shown: T.Boolean({ description: 'True when new approvals use this account.' }),
    },
    ...times,
  },
)
