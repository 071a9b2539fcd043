/** The sandbox of an app with faults that a test controls, beyond those of SANDBOX_FAULTS. */
import type { NetworkAccount, PublishRequest, PublishResult, Timeline } from '#port/network/network'
import type { TestApp } from '../app.ts'

/** The result of a send; `deliver` makes the post. */
export type Loss = (deliver: () => Promise<PublishResult>) => Promise<PublishResult>

export interface Unreliable {
  /** Texts that were sent, lost ones included, in order. */
  sent: string[]
  /** Network ids of the accounts whose timelines were read, in order. */
  reads: string[]
  /** The result of the next send of a text. */
  answers: Map<string, Loss>
  /** Changes what a read of the timeline shows. May throw a `NetworkError`. */
  view(timeline: Timeline, account: NetworkAccount): Timeline | Promise<Timeline>
  /** How the network changes a text. */
  rewrite(text: string): string
}

const unknown: PublishResult = { kind: 'unknown', reason: 'timeout', cause: 'no_answer' }

/** The request is lost. */
export const lostRequest: Loss = async () => unknown

/** The post is made and its answer lost. */
export const lostAnswer: Loss = async (deliver) => {
  await deliver()
  return unknown
}

export const unreliable = ({ workplace: { sandbox } }: Pick<TestApp, 'workplace'>): Unreliable => {
  const { publish, readTimeline } = sandbox
  const it: Unreliable = {
    sent: [],
    reads: [],
    answers: new Map(),
    view: (timeline) => timeline,
    rewrite: (text) => text,
  }
  sandbox.publish = (request: PublishRequest, signal) => {
    it.sent.push(request.text)
    const deliver = () => publish({ ...request, text: it.rewrite(request.text) }, signal)
    const answer = it.answers.get(request.text)
    it.answers.delete(request.text)
    return answer ? answer(deliver) : deliver()
  }
  sandbox.readTimeline = async (account, ...more) => {
    const timeline = await it.view(await readTimeline(account, ...more), account)
    it.reads.push(account.externalId)
    return timeline
  }
  return it
}
