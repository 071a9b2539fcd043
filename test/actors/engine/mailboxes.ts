/** A mailbox whose letters are functions. */
import { Mailbox, type MailboxOptions, type Priority } from '#actors/engine/mailbox'

interface Job {
  priority: Priority
  alone: boolean
  run(): Promise<void>
}

/** A mailbox whose letters are functions, each in a group of its own. */
export const mailboxOf = (options: MailboxOptions = {}) => {
  const mailbox = new Mailbox<Job>((job) => job.run(), options)
  const post = <T>(priority: Priority, work: () => Promise<T>) =>
    new Promise<T>((resolve, reject) => {
      mailbox.post({
        priority,
        alone: true,
        run: async () => (async () => work())().then(resolve, reject),
      })
    })
  return { mailbox, post }
}
