/** Playbooks as tools of the agent: it reads them, and proposes drafts for people to decide. */
import type { playbookCapabilities } from '#contract/agent/playbooks'
import { newDraft, type VersionAuthor, versionUrl } from '#domain/agent/knowledge/playbook'
import { fail } from '#kernel/errors'
import { newId } from '#kernel/ids'
import { nearest } from '#kernel/nearest'
import {
  activeSlugs,
  insertDraft,
  playbookBySlug,
  playbookIndex,
  versionRoom,
  type WithContent,
} from '#store/agent/playbooks'
import { loadBy, loadNow } from '#store/engine/load'
import { isStranger } from '#store/engine/principal'
import type { CommandContext, Handlers } from '../../engine/call.ts'
import { versionAuthor } from '../playbooks.ts'

/** A job is the author of what it writes by itself. For a direct call the author is its caller. */
const writerOf = ({ job, principal }: CommandContext): VersionAuthor => {
  if (!job) return versionAuthor(principal)
  return job.kind === 'action'
    ? job.onBehalf
    : { kind: 'agent', id: job.id, personId: job.onBehalf.personId }
}

/**
 * An archived playbook looks the same as one that does not exist. Throws `not_found`, naming the
 * nearest slug.
 */
const readable = (
  slug: string,
  playbook: WithContent | undefined,
  slugs: readonly { slug: string }[],
): WithContent => {
  if (playbook?.status === 'active') return playbook
  const known = slugs.map((one) => one.slug)
  const near = nearest(slug, known)
  return fail(
    'not_found',
    `there is no active playbook ${slug}${near ? `; did you mean ${near}?` : ''}`,
  )
}

const proposeUpdate =
  (publicUrl: string): Handlers<typeof playbookCapabilities>['propose_playbook_update'] =>
  async ({ slug, content, rationale }, context) => {
    const { sql, gate, job } = context
    const loaded = await loadNow(sql, { playbook: playbookBySlug(slug), slugs: activeSlugs() })
    const { id: playbook_id } = readable(slug, loaded.playbook, loaded.slugs)
    const { room } = await loadNow(sql, { room: versionRoom(playbook_id) })
    const untrusted = (job?.taint.length ?? 0) > 0
    const given = {
      id: newId(),
      playbook_id,
      content,
      rationale,
      author: writerOf(context),
      untrusted,
      now: gate.now,
    }
    const draft = newDraft(room, given)
    const { version } = draft
    const url = versionUrl(publicUrl, playbook_id, version.id)
    const data = { kind: 'playbook', playbook_id, version_id: version.id, slug, url }
    const effects = {
      writes: insertDraft(draft),
      events: [{ type: 'growth.approval.requested', data, subject: version.id }],
    }
    const reply = {
      playbookId: playbook_id,
      versionId: version.id,
      slug,
      number: version.number,
      state: version.state,
      url,
    }
    return { reply, effects, refId: playbook_id, auditDetail: { version: version.number } }
  }

export const playbookCapabilityHandlers = ({
  publicUrl,
}: {
  publicUrl: string
}): Handlers<typeof playbookCapabilities> => ({
  async list_playbooks({ status }, { read, principal }) {
    const { index } = await loadBy(read, {
      index: playbookIndex(status, { pinnedOnly: isStranger(principal) }),
    })
    return {
      playbooks: index.map(({ slug, name, description, pinned, status: its, has_active }) => ({
        slug,
        name,
        description,
        pinned,
        status: its,
        hasActiveVersion: has_active,
      })),
    }
  },

  async read_playbook({ slug }, { read, principal }) {
    const within = { pinnedOnly: isStranger(principal) }
    const { playbook, slugs } = await loadBy(read, {
      playbook: playbookBySlug(slug, within),
      slugs: activeSlugs(within),
    })
    const { name, description, version, content } = readable(slug, playbook, slugs)
    return { slug, name, description, version, content }
  },

  propose_playbook_update: proposeUpdate(publicUrl),
})
