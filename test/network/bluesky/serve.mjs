/**
 * A real PDS without an AppView, and a directory of DIDs, on free ports: run by Node 22 with the
 * folder in which they are installed. Prints where they are, as a line of JSON, and ends with its
 * standard input.
 */
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const parts = join(process.argv[2], 'node_modules/@atproto/dev-env/dist')
const load = (name) => import(pathToFileURL(join(parts, name)).href)
const { TestNetworkNoAppView } = await load('index.js')
const { ADMIN_PASSWORD, JWT_SECRET } = await load('const.js')

const network = await TestNetworkNoAppView.create({})
console.log(
  JSON.stringify({
    url: network.pds.url,
    plcUrl: network.plc.url,
    secret: JWT_SECRET,
    adminPassword: ADMIN_PASSWORD,
  }),
)
process.stdin.resume()
process.stdin.on('end', async () => {
  await network.close()
  process.exit(0)
})
