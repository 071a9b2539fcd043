import { expect, test } from 'bun:test'
import { Mailbox, type Posted, type Priority } from '#actors/engine/mailbox'
import { eventually } from '#test/support/eventually'

interface Job extends Posted {
  run(): Promise<void>
}

const priorities: Priority[] = ['control', 'interactive', 'background']

test.each(priorities)(
  'a %s letter that has run is kept by nothing, while others come and go',
  async (priority) => {
    const mailbox = new Mailbox<Job>((job) => job.run())
    const letters: WeakRef<object>[] = []
    const send = () => {
      const letter = { text: 'x'.repeat(100) }
      letters.push(new WeakRef(letter))
      mailbox.post({ priority, alone: true, run: async () => void letter.text })
    }
    for (let round = 0; round < 50; round++) {
      for (let nth = 0; nth < 10; nth++) send()
      await mailbox.drained()
    }
    // The last ones may still stand on the stack, which is searched for whatever looks like an
    // address.
    const kept = () => {
      Bun.gc(true)
      return letters.filter((letter) => letter.deref()).length
    }
    expect(await eventually(kept, (count) => count <= 20)).toBeLessThanOrEqual(20)
    expect(mailbox.idle).toBe(true)
  },
)
