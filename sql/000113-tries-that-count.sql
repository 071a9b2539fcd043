-- How many failures a try by tried_by stands for, should that process lose the workspace or die before the try has ended. None if the process
-- was young, because somebody may be killing one process after the other. A negative number counts the young processes that tried the row
-- before; after a few, it waits for an older one.
alter table work add column charge smallint not null default 0;
