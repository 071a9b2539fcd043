import type { playbooks } from '#contract/agent/playbooks'
import {
  activate,
  firstVersion,
  type NewVersion,
  needsPerson,
  newDraft,
  newPlaybook,
  type PlaybookVersion,
  playbookView,
  rejectVersion,
  updatePlaybook,
  type VersionAuthor,
  versionView,
} from '#domain/agent/knowledge/playbook'
import { found } from '#kernel/errors'
import { newId } from '#kernel/ids'
import {
  activeInstead,
  activeVersion,
  insertDraft,
  insertPlaybook,
  insertVersion,
  isSlugTaken,
  listPlaybooks,
  playbookCounts,
  playbookPart,
  playbookWith,
  savePlaybook,
  saveVersion,
  versionById,
  versionPart,
  versionRoom,
  versionsOf,
  type WithContent,
} from '#store/agent/playbooks'
import type { Effects } from '#store/engine/letter'
import { loadBy } from '#store/engine/load'
import type { Principal } from '#store/engine/principal'
import { refuseKey } from '../engine/access.ts'
import type { CommandContext, Handlers } from '../engine/call.ts'
import { loading } from '../engine/loading.ts'
import { pageOf, pageResult } from '../engine/paging.ts'

const NO_PLAYBOOK = 'no such playbook'
const NO_VERSION = 'no such version of this playbook'

export const versionAuthor = ({ kind, id, member }: Principal): VersionAuthor => ({
  kind,
  id,
  personId: member?.personId ?? null,
})

const view = ({ content, ...playbook }: WithContent) => playbookView(playbook, content)

const personsVersion = (
  { gate: { now }, principal }: CommandContext,
  given: Pick<NewVersion, 'playbook_id' | 'content' | 'rationale'>,
) => ({
  id: newId(),
  ...given,
  author: versionAuthor(principal),
  untrusted: false,
  now,
})

const versionResult = (version: PlaybookVersion, effects: Effects) => ({
  reply: { version: versionView(version) },
  effects,
  auditDetail: { version: version.number },
})

const deciding = ({ id, versionId }: { id: string; versionId: string }) => ({
  playbook: playbookPart(id),
  version: versionPart(id, versionId),
  former: activeVersion(id),
})

export const playbookHandlers: Handlers<typeof playbooks> = {
  async list({ status, ...input }, { read }) {
    const page = pageOf(input)
    const { rows, next_cursor } = pageResult(
      await read(listPlaybooks({ ...page, status })),
      page.limit,
    )
    return { playbooks: rows.map(view), nextCursor: next_cursor }
  },

  create: loading(
    ({ slug }) => ({ slug: isSlugTaken(slug), counts: playbookCounts(null) }),
    (
      { slug, name, content, description = null, pinned = false },
      context,
      { slug: { taken }, counts },
    ) => {
      const { now } = context.gate
      const playbook = newPlaybook({
        id: newId(),
        slug,
        name,
        description,
        pinned,
        taken,
        counts,
        now,
      })
      const given = personsVersion(context, { playbook_id: playbook.id, content, rationale: null })
      const writes = [insertPlaybook(playbook), insertVersion(firstVersion(given))]
      return {
        reply: { playbook: playbookView(playbook, content) },
        effects: { writes },
        refId: playbook.id,
      }
    },
  ),

  async get({ id }, { read }) {
    const { playbook, versions } = await loadBy(read, {
      playbook: playbookPart(id),
      versions: versionsOf(id),
    })
    return { playbook: view(found(playbook, NO_PLAYBOOK)), versions: versions.map(versionView) }
  },

  async version({ id }, { read }) {
    const { playbook, version, active } = await loadBy(read, {
      playbook: playbookWith(id),
      version: versionById(id),
      active: activeInstead(id),
    })
    return {
      playbook: view(found(playbook, NO_PLAYBOOK)),
      version: versionView(found(version, NO_VERSION)),
      active: active ? versionView(active) : null,
    }
  },

  update: loading(
    ({ id }) => ({ before: playbookPart(id), counts: playbookCounts(id) }),
    ({ id: _, ...changes }, { gate }, { before, counts }) => {
      const { content, ...playbook } = found(before, NO_PLAYBOOK)
      const after = updatePlaybook(playbook, changes, counts, gate.now)
      return {
        reply: { playbook: playbookView(after, content) },
        effects: { writes: [savePlaybook(after)] },
        auditDetail: changes,
      }
    },
  ),

  addVersion: loading(
    ({ id }) => ({ playbook: playbookPart(id), room: versionRoom(id) }),
    ({ id, content, rationale = null }, context, { playbook, room }) => {
      found(playbook, NO_PLAYBOOK)
      const draft = newDraft(room, personsVersion(context, { playbook_id: id, content, rationale }))
      return versionResult(draft.version, { writes: insertDraft(draft) })
    },
  ),

  activate: loading(
    (input) => deciding(input),
    (_, { gate, principal }, { playbook, version, former }) => {
      found(playbook, NO_PLAYBOOK)
      const before = found(version, NO_VERSION)
      const { activated, retired } = activate(before, former, {
        by: versionAuthor(principal),
        now: gate.now,
      })
      if (needsPerson(before) && principal.kind === 'key') refuseKey()
      // Only one version may be active at any moment, so the former one is retired first.
      const effects = {
        first: retired ? [saveVersion(retired)] : [],
        writes: [saveVersion(activated)],
      }
      return versionResult(activated, effects)
    },
  ),

  reject: loading(
    (input) => deciding(input),
    (_, { gate, principal }, { playbook, version }) => {
      found(playbook, NO_PLAYBOOK)
      const rejected = rejectVersion(found(version, NO_VERSION), {
        by: versionAuthor(principal),
        now: gate.now,
      })
      return versionResult(rejected, { writes: [saveVersion(rejected)] })
    },
  ),
}
