/** Where and how often a workspace posts: active ⇄ inactive, with format rules and a cadence. */
import type { growthChannelRecord } from '#contract/records/growth/growth-channel'
import type { RowOf } from '#contract/records/record'
import { refuseField } from '#kernel/errors'
import { refuseNaming } from '../way-on.ts'
import { type Cadence, hasSlots, noCadence, tidyCadence } from './cadence.ts'
import { type FormatRules, faultOfRules, noRules, tidyWords } from './format-rules.ts'

/**
 * The channels of a new workspace. `threads` starts inactive because nothing drafts threads yet.
 */
export const growthChannelNames = ['posts', 'threads', 'articles', 'replies'] as const
export type GrowthChannelName = (typeof growthChannelNames)[number]

export type GrowthChannel = RowOf<typeof growthChannelRecord>
export type ChannelStatus = GrowthChannel['status']

/** A channel as stored: only the rules and cadence fields that were set. */
export interface StoredChannel extends Omit<GrowthChannel, 'format_rules' | 'cadence'> {
  format_rules: Partial<FormatRules>
  cadence: Partial<Cadence>
}

export const channelOfRow = ({
  format_rules,
  cadence,
  ...channel
}: StoredChannel): GrowthChannel => ({
  ...channel,
  format_rules: { ...noRules, ...format_rules },
  cadence: { ...noCadence, ...cadence },
})

/** The channel whose rules and cadence apply to items of a kind. */
export const channelFor = (kind: 'post' | 'article'): GrowthChannelName =>
  kind === 'article' ? 'articles' : 'posts'

/** The longest texts of a network, by its own count. */
export interface LengthLimits {
  maxLength: number
  /** Null if it takes no articles. */
  maxLongLength: number | null
}

/** The network's longest text for a channel. */
export const limitOf = (name: string, { maxLength, maxLongLength }: LengthLimits): number =>
  (name === 'articles' ? maxLongLength : null) ?? maxLength

export interface ChannelPatch {
  status?: ChannelStatus
  format_rules?: Partial<FormatRules>
  cadence?: Partial<Cadence>
}

const changedRules = (
  rules: FormatRules,
  patch: Partial<FormatRules>,
  limit: number,
): FormatRules => {
  const next = { ...rules, ...patch }
  const fault = faultOfRules(next, limit)
  if (fault) refuseField(`format_rules.${fault.rule}`, fault.message)
  return { ...next, banned_words: tidyWords(next.banned_words) }
}

const changedCadence = (cadence: Cadence, patch: Partial<Cadence>): Cadence => {
  const next = tidyCadence({ ...cadence, ...patch })
  if (hasSlots(next) || next.days.length + next.times.length === 0) return next
  const [missing, present] = next.days.length === 0 ? ['days', 'times'] : ['times', 'days']
  return refuseField(
    `cadence.${missing}`,
    `must not be empty while ${present} is set; set both, or clear both for no cadence`,
  )
}

/**
 * Absent fields stay, inside rules and cadence too; null removes a rule. `limit` is the network's
 * longest text.
 */
export const updateChannel = (
  channel: GrowthChannel,
  patch: ChannelPatch,
  { limit, now }: { limit: number; now: Date },
): GrowthChannel => ({
  ...channel,
  status: patch.status ?? channel.status,
  format_rules: patch.format_rules
    ? changedRules(channel.format_rules, patch.format_rules, limit)
    : channel.format_rules,
  cadence: patch.cadence ? changedCadence(channel.cadence, patch.cadence) : channel.cadence,
  updated_at: now,
})

/** Throws `conflict`. An inactive channel takes no new work; existing work continues. */
export const requireActiveChannel = (
  channel: Pick<GrowthChannel, 'id' | 'name' | 'status'> | undefined,
): void => {
  if (channel?.status !== 'inactive') return
  const { id, name } = channel
  refuseNaming(
    'wrong_state',
    `channel ${name} is inactive; set its status to active to draft for it`,
    'growth.channels.update',
    id,
  )
}
