/** Where and how often a workspace posts: active ⇄ inactive, with rules for the form of its texts and a cadence. */
import { fail } from '#kernel/errors'
import { type Cadence, hasSlots, noCadence, tidyCadence } from './cadence.ts'
import { type FormatRules, faultOfRules, noRules, tidyWords } from './format-rules.ts'

/** Those that every workspace has from its start. Nothing drafts threads yet, so that one starts inactive. */
export const channelNames = ['posts', 'threads', 'articles', 'replies'] as const
export type ChannelName = (typeof channelNames)[number]

export type ChannelStatus = 'active' | 'inactive'

export interface GrowthChannel {
  id: string
  name: string
  status: ChannelStatus
  format_rules: FormatRules
  cadence: Cadence
  created_at: Date
  updated_at: Date
}

/** A channel as a row has it: of its rules and its cadence only what was set. */
export interface StoredChannel extends Omit<GrowthChannel, 'format_rules' | 'cadence'> {
  format_rules: Partial<FormatRules>
  cadence: Partial<Cadence>
}

export const channelOfRow = ({ format_rules, cadence, ...channel }: StoredChannel): GrowthChannel => ({
  ...channel,
  format_rules: { ...noRules, ...format_rules },
  cadence: { ...noCadence, ...cadence },
})

/** Whose rules and cadence hold for items of a kind. */
export const channelFor = (kind: 'post' | 'article'): ChannelName => (kind === 'article' ? 'articles' : 'posts')

/** The longest text of a channel that a network takes. */
export const limitOf = (name: string, { maxLength, maxLongLength }: { maxLength: number; maxLongLength: number }): number =>
  name === 'articles' ? maxLongLength : maxLength

export interface ChannelPatch {
  status?: ChannelStatus
  format_rules?: Partial<FormatRules>
  cadence?: Partial<Cadence>
}

const invalid = (path: string, message: string): never => fail('invalid_input', `${path} ${message}`, { details: [{ path, message }] })

const changedRules = (rules: FormatRules, patch: Partial<FormatRules>, limit: number): FormatRules => {
  const next = { ...rules, ...patch }
  const fault = faultOfRules(next, limit)
  if (fault) invalid(`format_rules.${fault.rule}`, fault.message)
  return { ...next, banned_words: tidyWords(next.banned_words) }
}

const changedCadence = (cadence: Cadence, patch: Partial<Cadence>): Cadence => {
  const next = tidyCadence({ ...cadence, ...patch })
  if (hasSlots(next) || next.days.length + next.times.length === 0) return next
  const [missing, given] = next.days.length === 0 ? ['days', 'times'] : ['times', 'days']
  return invalid(`cadence.${missing}`, `must not be empty while ${given} is set; set both, or clear both for no cadence`)
}

/** What is absent stays, also inside rules and cadence; null takes a rule away. `limit`: the longest text that the network takes. */
export const updateChannel = (
  channel: GrowthChannel,
  patch: ChannelPatch,
  { limit, now }: { limit: number; now: Date },
): GrowthChannel => ({
  ...channel,
  status: patch.status ?? channel.status,
  format_rules: patch.format_rules ? changedRules(channel.format_rules, patch.format_rules, limit) : channel.format_rules,
  cadence: patch.cadence ? changedCadence(channel.cadence, patch.cadence) : channel.cadence,
  updated_at: now,
})

/** New work for an inactive channel is refused; what is there already goes its way. */
export const requireActive = (channel: Pick<GrowthChannel, 'name' | 'status'> | undefined): void => {
  if (channel?.status === 'inactive') fail('conflict', `channel ${channel.name} is inactive; activate it to draft for it`)
}
