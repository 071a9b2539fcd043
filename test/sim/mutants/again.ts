/** Mistakes in posting again at a person's word. */
import { handOver } from '#actors/work/growth/post-again'
import { type Mutant, mutantsOf } from './mutant.ts'

const again = 'src/domain/growth/sending/post-again.ts'

export const againMutants: Mutant[] = [
  ...mutantsOf('actors/work/growth/reconcile.ts', [
    [
      'posting again reads nothing first',
      `const runAt = readableFrom(open, times)
      if (againOf(work) && gate.now < runAt) return $wait
      const attempt = { ...open, intent_at: await doubtfulSince(sql, of) }
      const connection = $connection
      const record = await sendables[of.sendable].lock(sql, of.record_id)`,
      `const runAt = readableFrom(open, times)
      const word = againOf(work)
      if (word && gate.now < runAt) return $wait
      if (word) {
        const { moves, lock } = sendables[of.sendable]
        const doubt = { moves, record: await lock(sql, of.record_id), attempt: open, now: gate.now, times }
        return { decision: ${handOver.name}(doubt, work, word) }
      }
      const attempt = { ...open, intent_at: await doubtfulSince(sql, of) }
      const connection = $connection
      const record = await sendables[of.sendable].lock(sql, of.record_id)`,
    ],
    [
      'posting again does not need the whole timeline',
      `if (outcome.kind === 'unread') {
        const unread = having()
        if (again) $refuse
        $$rest
      }
      $$seen
      if (again && !mayBeThere) return handOver(found, work, again)`,
      `if (outcome.kind === 'unread') {
        const unread = having()
        if (again) return handOver(unread, work, again)
        $$rest
      }
      $$seen
      if (again && !mayBeThere) return handOver(found, work, again)`,
    ],
    [
      'posting again does not wait for the end of the lease',
      'againOf(work) && gate.now < runAt',
      'againOf(work) && gate.now < gate.now',
    ],
    [
      'posting again ignores what may be there',
      'if (again && !mayBeThere) return handOver(found, work, again)',
      'if (again) return handOver(found, work, again)',
    ],
  ]),
  ...mutantsOf('src/decisions/growth/send-effects.ts', [
    [
      'a failed send on a word ends the doubt before it',
      'clear && old ? $again : $once',
      'clear && !old ? $again : $once',
    ],
  ]),
  ...mutantsOf(again, [
    [
      'an unsent post on a word ends the doubt before it',
      "attempt: ended(sent.attempt, 'unsent', now), reopened",
      "attempt: ended(sent.attempt, 'unsent', now)",
    ],
    ['an old look allows a new send', 'return age < 0 || age > times.freshMs', 'return age < 0'],
    [
      'a word is good for two sends',
      'if ($isLast) return settle(sent, outcome)',
      "if ($isLast) return outcome.kind === 'unknown' ? { ...settle(sent, outcome), next: { kind: 'reread' } } : settle(sent, outcome)",
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
