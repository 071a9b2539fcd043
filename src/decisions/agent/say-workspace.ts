/** What a person is asked about operations that change the workspace rather than one text. */
import type { Static } from '@sinclair/typebox'
import type { growthChannelOperations } from '#contract/growth/channels'
import type { connections } from '#contract/growth/connections'
import type { experiments } from '#contract/growth/experiments'
import type { profile } from '#contract/growth/profile'
import { found } from '#kernel/errors'
import { scheduledCounts } from '#store/growth/calendar'
import { connectionPart, defaultPart } from '#store/growth/connections'
import { experimentPart } from '#store/growth/experiments'
import { channelById } from '#store/growth/growth-channels'
import { profileOwner, profilePart } from '#store/growth/profiles'
import {
  type CallSummary,
  fieldsText,
  hashFields,
  quoteBeginning,
  type Says,
  saying,
  summariseCall,
} from './saying.ts'

const resumeAll = saying(
  (_: object) => ({ counts: scheduledCounts }),
  ({ counts: { scheduled, due } }): CallSummary => {
    const late = due === 0 ? '' : ` (${due} already due)`
    const posts = `${scheduled} scheduled ${scheduled === 1 ? 'item' : 'items'}${late}`
    return summariseCall(
      `Resume all automation: ${posts} can go out without being asked about again, and rules run`,
    )
  },
)

const setDefault = saying(
  ({ id }: Static<typeof connections.setDefault.input>) => ({
    account: connectionPart(id),
    current: defaultPart,
  }),
  ({ account, current }, { id }): CallSummary => {
    const { network, external_id, handle, status } = found(account, 'no such connected account')
    const place = current ? ` in place of @${current.handle}` : ''
    const records = [
      { kind: 'connection', id, sha256: hashFields({ network, external_id, handle, status }) },
    ]
    return summariseCall(
      `Make @${handle} the default account${place}, to which new approvals are bound`,
      {
        records,
      },
    )
  },
)

const updateProfile = saying(
  (_: Static<typeof profile.update.input>) => ({ before: profilePart, owner: profileOwner }),
  (
    { before, owner },
    { writing_dna = {}, add = {}, remove = {}, revision, ...patch },
  ): CallSummary => {
    const parts = [
      fieldsText({ ...patch, ...writing_dna }),
      ...Object.entries({ add, remove }).map(([how, lists]) =>
        Object.keys(lists).length === 0 ? '' : `${how} ${fieldsText(lists)}`,
      ),
    ].filter((part) => part !== '')
    const seen = revision === undefined ? '' : `, if it is still revision ${revision}`
    const records = owner
      ? [{ kind: 'profile', id: owner.id, sha256: hashFields(before.profile) }]
      : []
    const what = parts.join('; ') || 'nothing'
    return summariseCall(
      `Change the growth profile, from which every draft is made: ${what}${seen}`,
      {
        records,
      },
    )
  },
)

const updateChannel = saying(
  ({ id }: Static<typeof growthChannelOperations.update.input>) => ({ channel: channelById(id) }),
  ({ channel }, { id, status, format_rules = {}, cadence = {} }): CallSummary => {
    const { name, ...before } = found(channel, 'no such channel')
    const fields = fieldsText({ status, ...format_rules, ...cadence })
    const now = {
      status: before.status,
      format_rules: before.format_rules,
      cadence: before.cadence,
    }
    const records = [{ kind: 'channel', id, sha256: hashFields(now) }]
    return summariseCall(`Change the channel for ${name}: ${fields || 'nothing'}`, { records })
  },
)

const conclude = saying(
  ({ id }: Static<typeof experiments.conclude.input>) => ({ experiment: experimentPart(id) }),
  ({ experiment }, { id, result }): CallSummary => {
    const { name, hypothesis, arms, status } = found(experiment, 'no such experiment')
    const records = [
      { kind: 'experiment', id, sha256: hashFields({ name, hypothesis, arms, status }) },
    ]
    return summariseCall(
      `Conclude the experiment ${quoteBeginning(name)} for good, with the verdict ${quoteBeginning(result)}`,
      { records },
    )
  },
)

export const workspaceSayings = {
  'growth.automation.resumeAll': resumeAll,
  'growth.connections.setDefault': setDefault,
  'growth.profile.update': updateProfile,
  'growth.channels.update': updateChannel,
  'growth.experiments.conclude': conclude,
} satisfies Record<string, Says<never>>
