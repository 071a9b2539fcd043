import type { ReplyBrief, ReplyDraft, ReplySet } from '#domain/growth/drafting/draft'
import type { ReplyFault } from '../checks/reply.ts'
import { TOKENS_TO_THINK, UNUSABLE } from './answer.ts'
import { type PieceKind, type WritingModels, writePiece } from './piece.ts'
import { ModelReply, replyMessages, replyRepair } from './reply-prompt.ts'

type Kind = PieceKind<ReplyBrief, ReplyDraft, ReplyFault['kind']>

const hints: Kind['hints'] = {
  refused: 'model refused to write this; change the instruction, or give the body',
  cut: 'model output was cut off; shorten the instruction, or give the body',
  schema: UNUSABLE,
  garbled: UNUSABLE,
  empty: UNUSABLE,
  repeated: UNUSABLE,
  hook: UNUSABLE,
  too_long: 'the answer was too long; ask for a shorter one, or give the body',
  avoided:
    'the answer contained a phrase of the avoid list; shorten writing_dna.avoid or change the instruction',
  archived:
    'the answer mentioned an archived product; take it out of the instruction and the profile, or make it active',
  unsupported:
    'the model stated numbers that the profile does not have; put them into the instruction, or give the body',
  rule: 'the answer broke the format rules of the channel replies; change them or the instruction, or give the body',
  link: 'the model put in a link that the profile does not have; put it into the instruction, or give the body',
}

const TOKENS = TOKENS_TO_THINK + 600

const reply: Kind = {
  name: 'reply',
  schema: ModelReply,
  maxTokens: () => TOKENS,
  messages: replyMessages,
  repair: replyRepair,
  read: (worker, asked, signal) => worker.compute('readReply', asked, signal),
  hints,
}

/** An answer to somebody's post, or a quote of it. */
export const writeReply = async (
  desk: WritingModels,
  brief: ReplyBrief,
  signal: AbortSignal,
): Promise<ReplySet> => {
  const { draft, ...made } = await writePiece(desk, reply, { brief, signal })
  return { reply: draft, ...made }
}
