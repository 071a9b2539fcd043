/** Mistakes in posting again at a person's word. */
import type { Mutant } from './mutant.ts'

const again = 'src/domain/growth/sending/post-again.ts'

export const againMutants: Mutant[] = [
  {
    name: 'posting again reads nothing first',
    file: 'actors/work/growth/reconcile.ts',
    from: 'const attempt = { ...open, intent_at',
    to: `const word = againOf(work)
      if (word) {
        const { moves, lock } = sendables[of.sendable]
        const doubt = { moves, record: await lock(sql, of.record_id), attempt: open, now: gate.now, times }
        return { decision: handOver(doubt, work, word) }
      }
      const attempt = { ...open, intent_at`,
  },
  {
    name: 'posting again does not need the whole timeline',
    file: 'actors/work/growth/reconcile.ts',
    from: 'if (again) return refuseAgain(afterFailedRead(withError(found)',
    to: 'if (again) return handOver(found, work, again)\n      if (again) return refuseAgain(afterFailedRead(withError(found)',
  },
  {
    name: 'posting again does not wait for the end of the lease',
    file: 'actors/work/growth/reconcile.ts',
    from: 'if (againOf(work) && gate.now < runAt)',
    to: 'if (againOf(work) && gate.now < gate.now)',
  },
  {
    name: 'posting again ignores what may be there',
    file: 'actors/work/growth/reconcile.ts',
    from: 'if (again && !mayBeThere) return',
    to: 'if (again) return',
  },
  {
    name: 'a failed send on a word ends the doubt before it',
    file: 'src/decisions/growth/send-effects.ts',
    from: 'return clear && old ?',
    to: 'return clear && !old ?',
  },
  {
    name: 'an unsent post on a word ends the doubt before it',
    file: again,
    from: "attempt: ended(sent.attempt, 'unsent', now), reopened, events",
    to: "attempt: ended(sent.attempt, 'unsent', now), events",
  },
  {
    name: 'an old look allows a new send',
    file: again,
    from: 'return age < 0 || age > times.freshMs',
    to: 'return age < 0',
  },
  {
    name: 'a word is good for two sends',
    file: again,
    from: 'return settle(sent, outcome)',
    to: "return outcome.kind === 'unknown' ? { ...settle(sent, outcome), next: { kind: 'reread' } } : settle(sent, outcome)",
  },
  {
    name: 'only the last send of an item is looked for',
    file: 'test/sim/statements.ts',
    from: "isOpen(one) || ['superseded', 'returned'].includes(one.state)",
    to: 'isOpen(one)',
  },
  {
    name: 'the late post of a superseded attempt is credited to another item',
    file: 'test/sim/statements.ts',
    from: "['posted', 'superseded'].includes(one.state)",
    to: "one.state === 'posted'",
  },
  {
    name: 'a recall settles what has settled itself',
    file: 'src/decisions/growth/recall.ts',
    from: "if (current?.state !== 'running' || current.attempt !== work.attempt) continue",
    to: '',
  },
]
