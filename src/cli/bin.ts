/** The entry point of the package for Node: the command line without the server. */
import { main } from './process.ts'

await main({ server: [] })
