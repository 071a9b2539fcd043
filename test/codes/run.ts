/**
 * Starts a server and calls every row of the tables of endpoints of the document about the agent,
 * once for each code: `npm run codes`. Prints method, path, documented codes and codes seen; exits
 * 1 if one is missing. The Authentication section adds 401 to the rows that do not list it.
 */
import { withTemplate } from '#test/faults/own-database'
import { openPlace } from './place.ts'
import { faultsOf, tableOf, textOf } from './table.ts'

const lines = await withTemplate(async () => {
  await using place = await openPlace()
  return await tableOf(place)
})
const faults = faultsOf(lines)
console.log(textOf(lines))
for (const fault of faults) console.error(`broken: ${fault}`)
console.log(
  `codes: rows=${lines.length} codes=${lines.flatMap(({ documented }) => documented).length} ${faults.length === 0 ? 'ok' : 'BROKEN'}`,
)
process.exit(faults.length === 0 ? 0 : 1)
