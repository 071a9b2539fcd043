/** The warnings of an item: what must be read for them, and how they get into its answer. */
import {
  channelFor,
  type GrowthChannel,
  type GrowthChannelName,
} from '#domain/growth/drafting/growth-channel'
import type { Item } from '#domain/growth/drafting/item'
import { printsOf } from '#domain/growth/drafting/prints'
import { type Repeated, type Warning, warningsOf } from '#domain/growth/drafting/warnings'
import { limitsFor, type Networks } from '#port/network/registry'
import { channelsPart } from '#store/growth/growth-channels'
import { repeatedPart } from '#store/growth/item-prints'
import { profilePart, type StoredProfile } from '#store/growth/profiles'

const drafted: GrowthChannelName[] = ['posts', 'articles']

/** The part of a load that belongs to the workspace. */
export const surroundings = { profile: profilePart, channels: channelsPart(drafted) }

/**
 * Reads what the warnings of one item depend on. `body`: a text other than its present one. `id`:
 * null if the item does not exist yet.
 */
export const warningLoad = ({ id, body }: { id: string | null; body?: string | undefined }) => ({
  ...surroundings,
  repeats: repeatedPart({ itemId: id, prints: body === undefined ? undefined : printsOf(body) }),
})

export interface WarningFound {
  profile: StoredProfile
  channels: readonly GrowthChannel[]
  repeats: Repeated | null
}

/** What a warning is about: an item, or a text that may become one. */
type Warned = Pick<
  Item,
  'body' | 'kind' | 'post_at' | 'revision' | 'written_by' | 'posting_account'
>

export const warningsFor = (
  item: Warned,
  { profile: { profile }, channels, repeats }: WarningFound,
  networks: Networks,
): Warning[] => {
  const channel = channels.find(({ name }) => name === channelFor(item.kind))
  const isWritten = item.revision > 1 || item.written_by !== null
  return warningsOf({
    body: item.body,
    avoid: isWritten ? profile.writing_dna.avoid : [],
    repeats,
    prices: limitsFor(networks, item.posting_account ?? undefined).prices,
    slot:
      item.post_at && channel
        ? {
            at: item.post_at,
            cadence: channel.cadence,
            channel: channel.name,
            zone: profile.time_zone,
          }
        : null,
  })
}

/** The item with its warnings, for an answer. */
export const withWarnings = (item: Item, found: WarningFound, networks: Networks): Item => ({
  ...item,
  warnings: warningsFor(item, found, networks),
})

/** A draft with its warnings, computed from what was read with it. Other items stay as they are. */
export const addWarnings =
  (networks: Networks) =>
  (item: Item): Item => {
    if (item.status !== 'drafted') return item
    const { prices } = limitsFor(networks, item.posting_account ?? undefined)
    const { body, avoid, repeats } = item
    return {
      ...item,
      warnings: warningsOf({
        body,
        avoid: avoid ?? [],
        repeats: repeats ?? null,
        prices,
        slot: null,
      }),
    }
  }
