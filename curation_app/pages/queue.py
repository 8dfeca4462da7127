"""The Queue page: what was surfaced, why, and how far it has come."""

from curation_app.components.queue_view import show
from curation_app.service.labelling import open_desk
from curation_app.workspace import app_workspace

show(open_desk(app_workspace()))
