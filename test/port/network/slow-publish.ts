/** A process that publishes to a slow sandbox, and is killed while it waits. */
import { newId } from '#kernel/ids'
import { createLog } from '#kernel/log'
import { parseFaults } from '#port/network/sandbox/faults'
import { openSandboxStore } from '#port/network/sandbox/rows'
import { createSandbox } from '#port/network/sandbox/sandbox'

const { options, account, text, deadlineMs } = JSON.parse(process.argv[2] ?? '{}')

await using store = openSandboxStore(options)
const sandbox = createSandbox({ store, faults: parseFaults('slow=1'), log: createLog('silent') })
await sandbox.publish(
  { account, text, attemptId: newId(), key: null, madeAt: new Date(), deadlineMs },
  new AbortController().signal,
)
