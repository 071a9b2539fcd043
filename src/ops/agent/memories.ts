import type { memories, memoryCapabilities } from '#contract/agent/memories'
import {
  type Memory,
  memoryHash,
  memoryOwner,
  memoryView,
  remember,
} from '#domain/agent/knowledge/memory'
import { found } from '#kernel/errors'
import { newId } from '#kernel/ids'
import {
  deleteMemory,
  equalMemory,
  insertMemory,
  listMemories,
  memoryPart,
  memoryRoom,
  searchMemories,
  useMemories,
} from '#store/agent/memories'
import { loadBy, loadNow } from '#store/engine/load'
import type { Principal } from '#store/engine/principal'
import { profilePart } from '#store/growth/profiles'
import type { CommandContext, Handlers, QueryContext } from '../engine/call.ts'
import { loading } from '../engine/loading.ts'
import { pageOf, pageResult } from '../engine/paging.ts'

const requireMemory = (memory: Memory | undefined): Memory => found(memory, 'no such memory')

const personIn = ({ member }: Principal): string | null => member?.personId ?? null

/**
 * The person for whom a tool is called. A call that somebody else approved still belongs to the one
 * who asked for it.
 */
const askerOf = ({
  job,
  principal,
}: Pick<CommandContext | QueryContext, 'job' | 'principal'>): string | null =>
  job ? job.onBehalf.personId : personIn(principal)

export const memoryHandlers: Handlers<typeof memories> = {
  async list({ scope, q, ...input }, { read, principal }) {
    const page = pageOf(input)
    const { rows, next_cursor } = pageResult(
      await read(listMemories({ ...page, scope, q, personId: personIn(principal) })),
      page.limit,
    )
    return { memories: rows.map(memoryView), nextCursor: next_cursor }
  },

  async get({ id }, { read, principal }) {
    const { memory } = await loadBy(read, { memory: memoryPart(id, personIn(principal)) })
    return { memory: memoryView(requireMemory(memory)) }
  },

  remove: loading(
    ({ id }, { principal }) => ({ memory: memoryPart(id, personIn(principal)) }),
    ({ id }, _, { memory }) => ({
      reply: { memory: memoryView(requireMemory(memory)) },
      effects: { writes: [deleteMemory(id)] },
    }),
  ),
}

const USUAL = 8

export const memoryCapabilityHandlers: Handlers<typeof memoryCapabilities> = {
  async remember({ text, scope: asked }, context) {
    const { sql, gate, job } = context
    const owner = memoryOwner(asked, askerOf(context))
    const { equal, room, profile } = await loadNow(sql, {
      equal: equalMemory({ ...owner, text_hash: memoryHash(text) }),
      room: memoryRoom(owner.person_id),
      profile: profilePart,
    })
    const told = {
      id: newId(),
      ...owner,
      text,
      untrusted: (job?.taint.length ?? 0) > 0,
      job_id: job?.id ?? null,
      now: gate.now,
    }
    const { memory, isNew, removed } = remember({ equal, ...room }, told)
    const write = isNew
      ? insertMemory(memory, profile.profile.language)
      : useMemories([memory.id], gate.now)
    const writes = [write, ...(removed === null ? [] : [deleteMemory(removed)])]
    return {
      reply: { memory: memoryView(memory) },
      effects: { writes },
      refId: memory.id,
      auditDetail: { scope: memory.scope },
    }
  },

  async search_memories({ query, limit = USUAL }, context) {
    const { hits } = await loadBy(context.read, {
      hits: searchMemories({ personId: askerOf(context), text: query, limit }),
    })
    const shown = (isUntrusted: boolean) =>
      hits.filter(({ untrusted }) => untrusted === isUntrusted).map(memoryView)
    return { memories: shown(false), untrusted: shown(true) }
  },
}
