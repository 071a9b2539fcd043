/** The warnings of an item, and what must be read for them. */
import {
  channelFor,
  type GrowthChannel,
  type GrowthChannelName,
} from '#domain/growth/drafting/growth-channel'
import type { SlotTaker } from '#domain/growth/drafting/item-timing'
import type { ShownItem } from '#domain/growth/drafting/item-view'
import { printsOf } from '#domain/growth/drafting/prints'
import { type Repeated, type Warning, warningsOf } from '#domain/growth/drafting/warnings'
import { limitsFor, type Networks } from '#port/network/registry'
import { channelsPart } from '#store/growth/growth-channels'
import { repeatedPart } from '#store/growth/item-prints'
import { profilePart, type StoredProfile } from '#store/growth/profiles'

const drafted: GrowthChannelName[] = ['posts', 'articles']

/** The part of a load that belongs to the workspace. */
export const surroundings = { profile: profilePart, channels: channelsPart(drafted) }

/** The item or text to warn about. */
export interface Warned {
  /** Null if the item does not exist yet. */
  id: string | null
  /** A text other than its present one. */
  body?: string | undefined
  /** Warn although it is no draft any more. */
  isDecided?: true
}

/** Reads what the warnings of one item depend on. */
export const warningLoad = ({ id, body }: Warned) => ({
  ...surroundings,
  repeats: repeatedPart({ itemId: id, prints: body === undefined ? undefined : printsOf(body) }),
})

export interface WarningFound {
  profile: StoredProfile
  channels: readonly GrowthChannel[]
  repeats: Repeated | null
  /** Of an item with a time, if the handler loads it. */
  taker?: SlotTaker | undefined
}

/** Without `found`, only a draft has warnings, computed from what was read with it. */
export const warningsFor = (
  item: ShownItem,
  networks: Networks,
  found?: WarningFound,
): Warning[] => {
  if (!found && item.status !== 'drafted') return []
  const avoid = found?.profile.profile.writing_dna.avoid ?? item.avoid ?? []
  const channel = found?.channels.find(({ name }) => name === channelFor(item.kind))
  const isWritten = item.revision > 1 || item.written_by !== null
  return warningsOf({
    body: item.body,
    avoid: isWritten ? avoid : [],
    repeats: (found ?? item).repeats ?? null,
    taker: found?.taker,
    prices: limitsFor(networks, item.posting_account ?? undefined).prices,
    slot:
      item.post_at && channel
        ? {
            at: item.post_at,
            cadence: channel.cadence,
            channel: channel.name,
            zone: found!.profile.profile.time_zone,
          }
        : null,
  })
}
