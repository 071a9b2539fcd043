import { randomInt } from 'node:crypto'
import type { sandbox } from '#contract/growth/sandbox'
import { notConnected } from '#decisions/growth/not-connected'
import { AppError, refuseField } from '#kernel/errors'
import { newId } from '#kernel/ids'
import type { FeedPost } from '#port/network/sandbox/feed'
import type { Sandbox } from '#port/network/sandbox/sandbox'
import { residentPostId } from '#port/network/sandbox/schedule'
import { workspaceOf } from '#store/app/workspace'
import {
  accountsOn,
  forgetResidentPosts,
  insertResidentPost,
  type ResidentPost,
} from '#store/growth/resident-posts'
import { watchOf } from '#store/growth/targets'
import type { Handlers } from '../engine/call.ts'
import { loading } from '../engine/loading.ts'
import { placedPageOf, placedResult } from '../engine/paging.ts'
import { translateFailure } from './shared/reading-post.ts'

type Stage = Pick<Sandbox, 'name' | 'residents' | 'feed' | 'seen' | 'refusal'>

const view = ({ createdAt, inReplyTo, place: _, ...post }: FeedPost) => ({
  ...post,
  created_at: createdAt,
  in_reply_to: inReplyTo,
})

interface Saying {
  resident: string
  text: string
  mention?: boolean
}

const withHandle = (text: string, handle: string): string =>
  text.toLowerCase().includes(`@${handle.toLowerCase()}`) ? text : `@${handle} ${text}`

/** The post to answer: its id, null if there is none, or why it could not be found. */
type Answered = { id: string | null } | { failure: unknown }

/** Decides to post it. Refusals happen here, so that a repeated command is replayed first. */
const say = (stage: Stage, { resident, ...wanted }: Saying, answered: Answered) => {
  const name = resident.replace(/^@/, '').toLowerCase()
  return loading(
    () => ({ accounts: accountsOn(stage.name), watch: watchOf(name) }),
    async (_: unknown, { sql, gate: { now } }, { accounts: [account], watch }) => {
      if (!stage.residents.includes(name))
        refuseField('resident', `is none of ${stage.residents.join(', ')}`)
      if (!account) throw await notConnected(sql)
      const text = wanted.mention ? withHandle(wanted.text, account.handle) : wanted.text
      const refusal = stage.refusal(text)
      if (refusal !== null) refuseField('text', `cannot stand in the sandbox: ${refusal}`)
      if ('failure' in answered) throw answered.failure
      const said = { resident: name, text, in_reply_to: answered.id, created_at: now }
      const post: ResidentPost = { id: newId(), post_id: residentPostId(now, randomInt), ...said }
      const requeued = watch?.state === 'queued' ? [{ id: watch.work_id, runAt: now }] : []
      return {
        reply: { post: { id: post.post_id, ...said }, target_id: watch?.id ?? null },
        effects: { writes: [forgetResidentPosts, insertResidentPost(post)], requeued },
        refId: post.id,
        auditDetail: { resident: name, post: post.post_id, in_reply_to: answered.id },
      }
    },
  )
}

const NO_SUCH_POST = new AppError('not_found', 'no such post in the sandbox')

export const sandboxHandlers = (stage: Stage): Handlers<typeof sandbox> => ({
  async timeline({ author, in_reply_to: inReplyTo, ...input }, { read }) {
    const { limit, before } = placedPageOf(input)
    const [workspace] = await read(workspaceOf)
    const query = { author: author?.replace(/^@/, ''), inReplyTo, before, limit: limit + 1 }
    const { rows, next_cursor } = placedResult(
      await translateFailure(stage.feed(workspace!.id, query)),
      limit,
    )
    return { posts: rows.map(view), next_cursor }
  },

  post: { prepare: async (input) => say(stage, input, { id: null }) },

  reply: {
    async prepare({ post, ...input }, { tenantId }) {
      const found = translateFailure(stage.seen(tenantId, post)).then(
        (id): Answered => (id === null ? { failure: NO_SUCH_POST } : { id }),
        (failure: unknown): Answered => ({ failure }),
      )
      return say(stage, input, await found)
    },
  },
})
