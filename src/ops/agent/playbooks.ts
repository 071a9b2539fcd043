import type { playbookCapabilities, playbooks } from '#contract/agent/playbooks'
import {
  type Author,
  activate,
  firstVersion,
  type NewVersion,
  needsPerson,
  newDraft,
  newPlaybook,
  type PlaybookVersion,
  playbookView,
  reject,
  updatePlaybook,
  versionUrl,
  versionView,
} from '#domain/agent/knowledge/playbook'
import { fail, found } from '#kernel/errors'
import { newId } from '#kernel/ids'
import { nearest } from '#kernel/nearest'
import {
  activeSlugs,
  activeVersion,
  deleteVersion,
  insertPlaybook,
  insertVersion,
  isSlugTaken,
  listPlaybooks,
  playbookBySlug,
  playbookCounts,
  playbookIndex,
  playbookPart,
  savePlaybook,
  saveVersion,
  versionPart,
  versionRoom,
  versionsOf,
  type WithContent,
} from '#store/agent/playbooks'
import type { Effects } from '#store/engine/letter'
import { loadBy, loadNow } from '#store/engine/load'
import { isStranger, type Principal } from '#store/engine/principal'
import { refuseKey } from '../engine/access.ts'
import type { CommandContext, Handlers } from '../engine/call.ts'
import { loading } from '../engine/loading.ts'
import { pageOf, pageResult } from '../engine/paging.ts'

const NO_PLAYBOOK = 'no such playbook'
const NO_VERSION = 'no such version of this playbook'

const authorOf = ({ kind, id, member }: Principal): Author => ({ kind, id, personId: member?.personId ?? null })

/** A job is the author of what it writes by itself; a direct call is its caller's. */
const writerOf = ({ job, principal }: CommandContext): Author => {
  if (!job) return authorOf(principal)
  return job.kind === 'action' ? job.onBehalf : { kind: 'agent', id: job.id, personId: job.onBehalf.personId }
}

const view = ({ content, ...playbook }: WithContent) => playbookView(playbook, content)

const personsVersion = (
  { gate: { now }, principal }: CommandContext,
  given: Pick<NewVersion, 'playbook_id' | 'content' | 'rationale'>,
) => ({
  ...{ id: newId(), ...given, author: authorOf(principal), untrusted: false, now },
})

const versionResult = (version: PlaybookVersion, effects: Effects) => ({
  reply: { version: versionView(version) },
  effects,
  auditDetail: { version: version.number },
})

/** A draft, and what keeps it. */
const addDraft = (...given: Parameters<typeof newDraft>) => {
  const { version, removed } = newDraft(...given)
  return { version, writes: [insertVersion(version), ...(removed === null ? [] : [deleteVersion(removed)])] }
}

const deciding = ({ id, versionId }: { id: string; versionId: string }) => ({
  playbook: playbookPart(id),
  version: versionPart(id, versionId),
  former: activeVersion(id),
})

export const playbookHandlers: Handlers<typeof playbooks> = {
  async list({ status, ...input }, { read }) {
    const page = pageOf(input)
    const { rows, next_cursor } = pageResult(await read(listPlaybooks({ ...page, status })), page.limit)
    return { playbooks: rows.map(view), nextCursor: next_cursor }
  },

  create: loading(
    ({ slug }) => ({ slug: isSlugTaken(slug), counts: playbookCounts(null) }),
    ({ slug, name, content, description = null, pinned = false }, context, { slug: { taken }, counts }) => {
      const { now } = context.gate
      const playbook = newPlaybook({ id: newId(), slug, name, description, pinned, taken, counts, now })
      const given = personsVersion(context, { playbook_id: playbook.id, content, rationale: null })
      const writes = [insertPlaybook(playbook), insertVersion(firstVersion(given))]
      return { reply: { playbook: playbookView(playbook, content) }, effects: { writes }, refId: playbook.id }
    },
  ),

  async get({ id }, { read }) {
    const { playbook, versions } = await loadBy(read, { playbook: playbookPart(id), versions: versionsOf(id) })
    return { playbook: view(found(playbook, NO_PLAYBOOK)), versions: versions.map(versionView) }
  },

  update: loading(
    ({ id }) => ({ before: playbookPart(id), counts: playbookCounts(id) }),
    ({ id: _, ...changes }, { gate }, { before, counts }) => {
      const { content, ...playbook } = found(before, NO_PLAYBOOK)
      const after = updatePlaybook(playbook, changes, counts, gate.now)
      return { reply: { playbook: playbookView(after, content) }, effects: { writes: [savePlaybook(after)] }, auditDetail: changes }
    },
  ),

  addVersion: loading(
    ({ id }) => ({ playbook: playbookPart(id), room: versionRoom(id) }),
    ({ id, content, rationale = null }, context, { playbook, room }) => {
      found(playbook, NO_PLAYBOOK)
      const { version, writes } = addDraft(room, personsVersion(context, { playbook_id: id, content, rationale }))
      return versionResult(version, { writes })
    },
  ),

  activate: loading(
    (input) => deciding(input),
    (_, { gate, principal }, { playbook, version, former }) => {
      found(playbook, NO_PLAYBOOK)
      const before = found(version, NO_VERSION)
      const { activated, retired } = activate(before, former, { by: authorOf(principal), now: gate.now })
      if (needsPerson(before) && principal.kind === 'key') refuseKey()
      // Only one may be active at any moment, so the former one makes way first.
      const effects = { first: retired ? [saveVersion(retired)] : [], writes: [saveVersion(activated)] }
      return versionResult(activated, effects)
    },
  ),

  reject: loading(
    (input) => deciding(input),
    (_, { gate, principal }, { playbook, version }) => {
      found(playbook, NO_PLAYBOOK)
      const rejected = reject(found(version, NO_VERSION), { by: authorOf(principal), now: gate.now })
      return versionResult(rejected, { writes: [saveVersion(rejected)] })
    },
  ),
}

/** Archived ones are not told from those that do not exist. Throws `not_found`, naming the nearest. */
const readable = (slug: string, playbook: WithContent | undefined, slugs: readonly { slug: string }[]): WithContent => {
  if (playbook?.status === 'active') return playbook
  const known = slugs.map((one) => one.slug)
  const near = nearest(slug, known)
  return fail('not_found', `there is no active playbook ${slug}${near ? `; did you mean ${near}?` : ''}`)
}

const proposeUpdate =
  (publicUrl: string): Handlers<typeof playbookCapabilities>['propose_playbook_update'] =>
  async ({ slug, content, rationale }, context) => {
    const { sql, gate, job } = context
    const loaded = await loadNow(sql, { playbook: playbookBySlug(slug), slugs: activeSlugs() })
    const { id: playbook_id } = readable(slug, loaded.playbook, loaded.slugs)
    const { room } = await loadNow(sql, { room: versionRoom(playbook_id) })
    const untrusted = (job?.taint.length ?? 0) > 0
    const given = { id: newId(), playbook_id, content, rationale, author: writerOf(context), untrusted, now: gate.now }
    const { version, writes } = addDraft(room, given)
    const url = versionUrl(publicUrl, playbook_id, version.id)
    const data = { kind: 'playbook', playbook_id, version_id: version.id, slug, url }
    const effects = { writes, events: [{ type: 'growth.approval.requested', data, subject: version.id }] }
    const reply = { playbookId: playbook_id, versionId: version.id, slug, number: version.number, state: version.state, url }
    return { reply, effects, refId: playbook_id, auditDetail: { version: version.number } }
  }

export const playbookCapabilityHandlers = ({ publicUrl }: { publicUrl: string }): Handlers<typeof playbookCapabilities> => ({
  async list_playbooks({ status }, { read, principal }) {
    const { index } = await loadBy(read, { index: playbookIndex(status, { pinnedOnly: isStranger(principal) }) })
    return {
      playbooks: index.map(({ slug, name, description, pinned, status: its, has_active }) => ({
        ...{ slug, name, description, pinned, status: its, hasActiveVersion: has_active },
      })),
    }
  },

  async read_playbook({ slug }, { read, principal }) {
    const within = { pinnedOnly: isStranger(principal) }
    const { playbook, slugs } = await loadBy(read, { playbook: playbookBySlug(slug, within), slugs: activeSlugs(within) })
    const { name, description, version, content } = readable(slug, playbook, slugs)
    return { slug, name, description, version, content }
  },

  propose_playbook_update: proposeUpdate(publicUrl),
})
