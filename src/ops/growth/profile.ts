import type { profile } from '#contract/growth/profile'
import {
  changedFields,
  changeLists,
  emptyProfile,
  type Profile,
  requireProfileRevision,
  updateProfile,
} from '#domain/growth/drafting/profile'
import { loadBy, when } from '#store/engine/load'
import { workFor } from '#store/engine/work'
import {
  profilePart,
  profileVersions,
  profileWriter,
  readProfile,
  type StoredProfile,
  saveProfile,
  toProfile,
} from '#store/growth/profiles'
import type { Handlers } from '../engine/call.ts'
import { loading } from '../engine/loading.ts'
import { numberedPageOf, numberedResult } from '../engine/paging.ts'
import { authorOf } from './shared/author.ts'

/** With `voice` as an alias of `voice_rules`. */
const fieldsView = ({ writing_dna: dna, ...fields }: Profile) => ({
  ...fields,
  writing_dna: { voice: dna.voice_rules, ...dna },
})

/** The profile as surfaces show it. */
export const profileView = ({ profile, ...row }: StoredProfile) => ({
  ...fieldsView(profile),
  ...row,
})

export const profileHandlers: Handlers<typeof profile> = {
  async get(_, { read }) {
    const [row] = await read(readProfile)
    return { profile: profileView(toProfile(row)) }
  },

  update: loading(
    ({ time_zone, revision }, { tenantId }) => ({
      before: profilePart,
      writer: when(revision !== undefined, profileWriter),
      // A new time zone moves Monday morning: the weekly report computes its time again.
      weekly: when(time_zone !== undefined, workFor('weekly_report', tenantId)),
    }),
    ({ revision: seen, add, remove, ...patch }, context, { before, writer, weekly }) => {
      const { gate } = context
      requireProfileRevision(before.revision, seen, writer)
      const next = changeLists(updateProfile(before.profile, patch), { add, remove })
      const changed = changedFields(before.profile, next)
      const auditDetail = { changed }
      if (changed.length === 0 && before.revision > 0)
        return { reply: { profile: profileView(before) }, auditDetail }
      const revision = before.revision + 1
      const stored = {
        profile: next,
        revision,
        created_at: before.created_at ?? gate.now,
        updated_at: gate.now,
      }
      const requeued =
        weekly && next.time_zone !== before.profile.time_zone
          ? [{ id: weekly.id, runAt: gate.now }]
          : []
      const writes = saveProfile(next, { revision, by: authorOf(context), changed, now: gate.now })
      return { reply: { profile: profileView(stored) }, effects: { writes, requeued }, auditDetail }
    },
  ),

  async revisions(input, { read }) {
    const page = numberedPageOf(input)
    const { versions } = await loadBy(read, { versions: profileVersions(page) })
    const { rows, next_cursor } = numberedResult(versions, page.limit)
    const revisions = rows.map(({ data, ...version }) => ({
      ...version,
      profile: fieldsView(updateProfile(emptyProfile, data)),
    }))
    return { revisions, next_cursor }
  },
}
