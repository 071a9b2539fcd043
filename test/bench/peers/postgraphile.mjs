/**
 * PostGraphile over our tables, as the library's documentation says for production: GraphQL over HTTP, the role and the tenant set for
 * each request, and row-level security in Postgres. Of its duties, ours adds keys, scopes and limits.
 */
import { createServer } from 'node:http'
import { postgraphile } from 'postgraphile'
import { makePgService } from 'postgraphile/adaptors/pg'
import { grafserv } from 'postgraphile/grafserv/node'
import { PostGraphileAmberPreset } from 'postgraphile/presets/amber'

/** As many as our server has for reads. */
const POOL = 10

const service = makePgService({
  connectionString: process.env.DATABASE_URL,
  schemas: ['public'],
  pubsub: false,
  poolConfig: { max: POOL },
})

const preset = {
  extends: [PostGraphileAmberPreset],
  pgServices: [service],
  grafast: {
    context: ({ node }) => ({
      pgSettings: {
        role: 'tendril_app',
        'app.tenant': String(node?.req.headers['x-tenant'] ?? ''),
      },
    }),
  },
  grafserv: { graphqlPath: '/graphql', graphiql: false, watch: false },
}

const pgl = postgraphile(preset)
const server = createServer()
await pgl.createServ(grafserv).addTo(server)
const [answer] = server.listeners('request')
server.removeAllListeners('request')
server.on('request', (request, response) => {
  if (request.url !== '/health') return answer(request, response)
  response.end('ok')
})
await pgl.getSchemaResult()
server.listen(Number(process.env.PORT), '127.0.0.1')
process.on('SIGTERM', () => process.exit(0))
