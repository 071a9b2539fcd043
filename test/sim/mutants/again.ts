/** Mistakes in posting again at a person's word. */
import { type Mutant, mutantsOf } from './mutant.ts'

const again = 'src/domain/growth/sending/post-again.ts'

export const againMutants: Mutant[] = [
  ...mutantsOf('actors/work/growth/reconcile.ts', [
    [
      'posting again reads nothing first',
      'const attempt = { ...open, intent_at',
      `const word = againOf(work)
      if (word) {
        const { moves, lock } = sendables[of.sendable]
        const doubt = { moves, record: await lock(sql, of.record_id), attempt: open, now: gate.now, times }
        return { decision: handOver(doubt, work, word) }
      }
      const attempt = { ...open, intent_at`,
    ],
    [
      'posting again does not need the whole timeline',
      'if (again) return refuseAgain(afterFailedRead(withError(found)',
      'if (again) return handOver(found, work, again)\n      if (again) return refuseAgain(afterFailedRead(withError(found)',
    ],
    [
      'posting again does not wait for the end of the lease',
      'if (againOf(work) && gate.now < runAt)',
      'if (againOf(work) && gate.now < gate.now)',
    ],
    [
      'posting again ignores what may be there',
      'if (again && !mayBeThere) return',
      'if (again) return',
    ],
  ]),
  ...mutantsOf('src/decisions/growth/send-effects.ts', [
    [
      'a failed send on a word ends the doubt before it',
      'return clear && old ?',
      'return clear && !old ?',
    ],
  ]),
  ...mutantsOf(again, [
    [
      'an unsent post on a word ends the doubt before it',
      "attempt: ended(sent.attempt, 'unsent', now), reopened, events",
      "attempt: ended(sent.attempt, 'unsent', now), events",
    ],
    ['an old look allows a new send', 'return age < 0 || age > times.freshMs', 'return age < 0'],
    [
      'a word is good for two sends',
      'return settle(sent, outcome)',
      "return outcome.kind === 'unknown' ? { ...settle(sent, outcome), next: { kind: 'reread' } } : settle(sent, outcome)",
    ],
  ]),
  ...mutantsOf('test/sim/statements-of-attempts.ts', [
    [
      'only the last send of an item is looked for',
      "isOpen(one) || ['superseded', 'returned'].includes(one.state)",
      'isOpen(one)',
    ],
    [
      'the late post of a superseded attempt is credited to another item',
      "['posted', 'superseded'].includes(one.state)",
      "one.state === 'posted'",
    ],
  ]),
  ...mutantsOf('src/decisions/growth/recall.ts', [
    [
      'a recall settles what has settled itself',
      "if (current?.state !== 'running' || current.attempt !== work.attempt) continue",
      '',
    ],
  ]),
]
