/**
 * How a member proves that a sender in a channel is theirs: the app shows the member a code, which
 * they send from the channel. Where senders can be forged, a second code is sent to the sender's
 * name, and has to come back: only the name's owner can read it. Pure.
 */
import { createHash } from 'node:crypto'
import { channelIdentityRecord } from '#contract/records/agent/channel-connection'
import type { RowOf } from '#contract/records/record'
import { viewOf } from '#contract/records/view'
import { CODE_LETTERS, readUserCode } from '../../app/device.ts'

/** A sender who has been proven to be a member. */
export type ChannelIdentity = RowOf<typeof channelIdentityRecord>

/** How long a code is valid. */
export const CODE_MS = 15 * 60_000

export const hashOfCode = (letters: string): string =>
  createHash('sha256').update(letters).digest('hex')

/** `BCDF-GHJK`, with any dash that phones put in. */
const CODE = new RegExp(
  `(?<![\\p{L}\\p{N}])[${CODE_LETTERS}]{4}\\p{Pd}[${CODE_LETTERS}]{4}(?![\\p{L}\\p{N}])`,
  'iu',
)

/** In UTF-16 code units. A message with a code is short. */
const LONGEST_READ = 1_000

/** The letters of a possible code in a message; undefined if nothing looks like a code. */
export const codeIn = (text: string): string | undefined => {
  const [found] = CODE.exec(text.slice(0, LONGEST_READ)) ?? []
  return found === undefined ? undefined : readUserCode(found)
}

/** What is known about the sender of a valid code. */
export interface Linking {
  /** The id for a new identity. */
  id: string
  connection_id: string
  /** The member who was shown the code. */
  person_id: string
  sender: { id: string; name: string | null }
  /** Where we can message the sender outside the thread. */
  direct_to: Record<string, unknown> | null
  /** The sender's earlier identity, if its person is still a member. */
  before: ChannelIdentity | undefined
  now: Date
}

/** `taken`: the sender is already linked to another member, whom a code does not displace. */
export type Linked = { kind: 'linked'; identity: ChannelIdentity } | { kind: 'taken' }

export const linkIdentity = ({
  id,
  connection_id,
  person_id,
  sender,
  direct_to,
  before,
  now,
}: Linking): Linked => {
  if (before && before.person_id !== person_id) return { kind: 'taken' }
  const known = before ?? { id, connection_id, external_id: sender.id, person_id, created_at: now }
  return {
    kind: 'linked',
    identity: {
      ...known,
      name: sender.name,
      reply_to: direct_to,
      verified_at: now,
      updated_at: now,
    },
  }
}

/**
 * Replaces the second code in all stored texts. Otherwise anybody who reads replies in the app
 * could send it.
 */
export const MASKED_CODE = 'XXXX-XXXX'

/**
 * The message with the second code. `member`: the person whom the sender would speak for, as people
 * read it.
 */
export const secondCodeText = (member: string): string =>
  [
    `Somebody asked to be known here as ${member}, from this address.`,
    `If that was you, answer within 15 minutes with this code: ${MASKED_CODE}`,
    'If not, do nothing, and tell the code to nobody.',
  ].join('\n\n')

/** What the sender is told. */
export const LINKED_LINES: Record<Linked['kind'], string> = {
  linked:
    'You are linked now: I know you as a member of the workspace here. You can end that in the app.',
  taken:
    'This sender is linked to another member of the workspace already. That link has to be ended in the app first.',
}

export const identityView = viewOf(channelIdentityRecord)
