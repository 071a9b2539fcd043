/** What is served besides the operations. */
import { channelRoutesOf } from '#edge/agent/channels'
import { inboundRoutes } from '#edge/agent/inbound'
import { sharedFileRoutes } from '#edge/agent/shared-files'
import { deviceRoutes } from '#edge/app/device'
import { oauthClientRoutes } from '#edge/app/oauth-client'
import { OtherBuilds } from '#edge/console/other-builds'
import { consoleRoutes } from '#edge/console/routes'
import { connectingPageRoutes } from '#edge/pages/connecting'
import type { PageDeps } from '#edge/pages/page'
import { pageRoutes } from '#edge/pages/routes'
import type { Route } from '#edge/route'
import type { Bound } from '#ops/engine/bind'
import type { World } from '#ops/engine/call'
import type { Db } from '#store/engine/db'

interface Serving {
  db: Db
  world: World
  runtime: { now(): number; incarnation: string }
}

export const routesOf = (
  { db, world, runtime }: Serving,
  shared: Omit<PageDeps, 'db' | 'identity' | 'internal'>,
  internal: Bound[],
): Route[] => [
  ...deviceRoutes({ db, identity: world.identity, log: shared.log }),
  ...pageRoutes({ ...shared, db, internal, identity: world.identity }),
  ...connectingPageRoutes({
    ...shared,
    db,
    internal,
    identity: world.identity,
    bluesky: world.bluesky,
    rates: world.rates,
  }),
  ...oauthClientRoutes({ bluesky: world.bluesky, log: shared.log }),
  ...consoleRoutes({
    ...shared,
    db,
    internal,
    identity: world.identity,
    otherBuilds: new OtherBuilds({ db, log: shared.log, incarnation: () => runtime.incarnation }),
  }),
  ...inboundRoutes({ db, sealer: world.sealer, internal, now: () => runtime.now() }),
  ...channelRoutesOf({
    db,
    sealer: world.sealer,
    internal,
    channels: world.channels,
    publicUrl: world.identity.publicUrl,
    log: shared.log,
    now: () => runtime.now(),
  }),
  ...sharedFileRoutes({ db, files: world.files, fileSlots: shared.fileSlots, log: shared.log }),
]
